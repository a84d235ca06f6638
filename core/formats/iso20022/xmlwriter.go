package iso20022

import (
	"bufio"
	"strings"
)

// xmlWriter writes elements. Their texts have been checked or transliterated, so that there is nothing to escape. It
// keeps the first error.
type xmlWriter struct {
	w   *bufio.Writer
	err error
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
	x.raw("<" + name + ">")
	x.raw(text)
	x.raw("</" + name + ">")
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

func (x *xmlWriter) party(name string, p Party, nameLength int) {
	x.open(name)
	x.element("Nm", cut(p.Name, nameLength))
	if p.Address != nil {
		x.address(*p.Address)
	}
	if p.OrganisationID != "" {
		x.raw("<Id><OrgId><Othr>")
		x.element("Id", p.OrganisationID)
		x.code("SchmeNm", p.OrganisationScheme)
		x.raw("</Othr></OrgId></Id>")
	}
	x.close(name)
}

func (x *xmlWriter) address(a Address) {
	x.open("PstlAdr")
	x.element("StrtNm", cut(a.Street, maxStreet))
	x.element("BldgNb", cut(a.BuildingNumber, maxBuildingNumber))
	x.element("Room", cut(a.Room, maxStreet))
	x.element("PstCd", cut(a.PostalCode, maxPostalCode))
	x.element("TwnNm", cut(a.Town, maxTown))
	x.element("CtrySubDvsn", cut(a.State, maxState))
	x.element("Ctry", a.Country)
	for _, line := range a.Lines {
		x.element("AdrLine", cut(line, maxStreet))
	}
	x.close("PstlAdr")
}

func (x *xmlWriter) account(name string, a Account) {
	x.raw("<" + name + "><Id>")
	if a.IBAN != "" {
		x.element("IBAN", strings.ToUpper(a.IBAN))
	} else {
		x.open("Othr")
		x.element("Id", a.Number)
		x.code("SchmeNm", a.NumberScheme)
		x.close("Othr")
	}
	x.close("Id")
	x.element("Ccy", a.Currency)
	x.close(name)
}

// agent writes a bank. One without an identification is written as SEPA has it: it is found by the IBAN.
func (x *xmlWriter) agent(name string, a Agent) {
	x.raw("<" + name + "><FinInstnId>")
	x.element("BICFI", a.BIC)
	if a.MemberID != "" {
		x.open("ClrSysMmbId")
		x.code("ClrSysId", a.ClearingSystem)
		x.element("MmbId", a.MemberID)
		x.close("ClrSysMmbId")
	}
	x.element("Nm", cut(a.Name, maxName))
	if a.Address != nil {
		x.address(*a.Address)
	}
	if a.BIC == "" && a.MemberID == "" {
		x.raw("<Othr><Id>NOTPROVIDED</Id></Othr>")
	}
	x.raw("</FinInstnId></" + name + ">")
}
