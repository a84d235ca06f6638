package iso20022

import (
	"bufio"
	"encoding/xml"
	"strings"
	"time"
)

// xmlWriter writes elements. It keeps the first error.
type xmlWriter struct {
	w    *bufio.Writer
	text func(text string, n int) string // as it is written, of at most n characters
	any  bool                            // texts may have any characters: those that are not checked or transliterated are escaped
	err  error
}

func (x *xmlWriter) raw(text string) {
	if x.err == nil {
		_, x.err = x.w.WriteString(text)
	}
}

func (x *xmlWriter) flush() error {
	if x.err == nil {
		x.err = x.w.Flush()
	}
	return x.err
}

func (x *xmlWriter) open(name string)  { x.raw("<" + name + ">") }
func (x *xmlWriter) close(name string) { x.raw("</" + name + ">") }

// element writes an element with a text, and nothing if the text is empty.
func (x *xmlWriter) element(name, text string) {
	if text == "" {
		return
	}
	x.open(name)
	switch {
	case !x.any:
		x.raw(text)
	case x.err == nil:
		x.err = xml.EscapeText(x.w, []byte(text))
	}
	x.close(name)
}

// code writes an element that is the choice of a code, and nothing if the code is empty.
func (x *xmlWriter) code(name, code string) {
	if code == "" {
		return
	}
	x.open(name)
	x.element("Cd", code)
	x.close(name)
}

// scheme writes the scheme of an id, and nothing if there is none. ISO's codes have at most four characters: a longer one
// is the sender's own.
func (x *xmlWriter) scheme(scheme string) {
	if len(scheme) <= maxCode {
		x.code("SchmeNm", scheme)
		return
	}
	x.raw("<SchmeNm>")
	x.element("Prtry", scheme)
	x.raw("</SchmeNm>")
}

// day writes a time, or a date if there is no time.
func (x *xmlWriter) day(name string, date, at time.Time) {
	x.open(name)
	if at.IsZero() {
		x.element("Dt", date.Format(time.DateOnly))
	} else {
		x.element("DtTm", formatTime(at))
	}
	x.close(name)
}

func (x *xmlWriter) party(name string, p Party, nameLength int) {
	x.open(name)
	x.element("Nm", x.text(p.Name, nameLength))
	if p.Address != nil {
		x.address(*p.Address)
	}
	if p.OrganisationID != "" {
		kind := "OrgId"
		if p.Person {
			kind = "PrvtId"
		}
		x.raw("<Id><" + kind + "><Othr>")
		x.element("Id", p.OrganisationID)
		x.scheme(p.OrganisationScheme)
		x.raw("</Othr></" + kind + "></Id>")
	}
	x.close(name)
}

func (x *xmlWriter) address(a Address) {
	x.open("PstlAdr")
	x.element("StrtNm", x.text(a.Street, maxStreet))
	x.element("BldgNb", x.text(a.BuildingNumber, maxBuildingNumber))
	x.element("Room", x.text(a.Room, maxStreet))
	x.element("PstCd", x.text(a.PostalCode, maxPostalCode))
	x.element("TwnNm", x.text(a.Town, maxTown))
	x.element("CtrySubDvsn", x.text(a.State, maxState))
	x.element("Ctry", a.Country)
	for _, line := range a.Lines {
		x.element("AdrLine", x.text(line, maxStreet))
	}
	x.close("PstlAdr")
}

func (x *xmlWriter) account(name string, a Account) {
	x.open(name)
	x.accountID(a)
	x.close(name)
}

func (x *xmlWriter) accountID(a Account) {
	x.open("Id")
	if a.IBAN != "" {
		x.element("IBAN", strings.ToUpper(a.IBAN))
	} else {
		x.open("Othr")
		x.element("Id", a.Number)
		x.scheme(a.NumberScheme)
		x.close("Othr")
	}
	x.close("Id")
	x.element("Ccy", a.Currency)
}

// agent writes a bank, and one without an identification by another number, if it is given.
func (x *xmlWriter) agent(name string, a Agent, unidentified string) {
	x.raw("<" + name + "><FinInstnId>")
	x.element("BICFI", a.BIC)
	if a.MemberID != "" {
		x.open("ClrSysMmbId")
		x.code("ClrSysId", a.ClearingSystem)
		x.element("MmbId", a.MemberID)
		x.close("ClrSysMmbId")
	}
	x.element("Nm", x.text(a.Name, maxName))
	if a.Address != nil {
		x.address(*a.Address)
	}
	if a.BIC == "" && a.MemberID == "" && unidentified != "" {
		x.raw("<Othr><Id>" + unidentified + "</Id></Othr>")
	}
	x.raw("</FinInstnId></" + name + ">")
}
