package statements

import (
	"cmp"
	"fmt"
	"strings"

	"causeway/core/money"
	"causeway/core/reconcile"
)

// statementEntry has the fields of an Ntry element. It becomes one line, or one for each detail.
type statementEntry struct {
	line             reconcile.Line
	amount, currency string
	side, status     string
	reference        string
	details          []entryDetail
}

type entryDetail struct {
	line                   reconcile.Line
	amount, currency, side string
	hasOwnAmount           bool // the amount is from Amt, not AmtDtls
}

func (c *camtParser) setEntryField(part, text string) (err error) {
	e := &c.entry
	switch part {
	case "NtryRef":
		e.reference = text
	case "Amt":
		e.amount, e.currency = text, c.elementCurrency
	case "CdtDbtInd":
		e.side = text
	case "RvslInd":
		e.line.Returned = text == "true" || text == "1"
	case "Sts", "Sts/Cd":
		if text != "" {
			e.status = text
		}
	case "Sts/Prtry":
		err = reconcile.InvalidFile("line %d: an entry has the status %.40q, which is none of ISO 20022", c.lineNumber(), text)
	case "BookgDt/Dt", "BookgDt/DtTm":
		e.line.Booked, err = c.parseDay(text)
	case "ValDt/Dt", "ValDt/DtTm":
		e.line.Value, err = c.parseDay(text)
	case "AcctSvcrRef":
		e.line.ServicerReference = text
	case "AddtlNtryInf":
		e.line.Description = text
	case "NtryDtls/Btch/MsgId", "NtryDtls/Btch/PmtInfId":
		addReference(&e.line, text)
	}
	return err
}

func (c *camtParser) setDetailField(part, text string) {
	d := &c.entry.details[len(c.entry.details)-1]
	switch part {
	case "Amt":
		d.amount, d.currency, d.hasOwnAmount = text, c.elementCurrency, true
	case "AmtDtls/TxAmt/Amt":
		if !d.hasOwnAmount {
			d.amount, d.currency = text, c.elementCurrency
		}
	case "CdtDbtInd":
		d.side = text
	case "Refs/AcctSvcrRef":
		d.line.ServicerReference = text
	case "Refs/EndToEndId", "Refs/TxId", "Refs/InstrId", "Refs/UETR", "Refs/MsgId", "Refs/PmtInfId", "Refs/ChqNb", "Refs/ClrSysRef", "Refs/MndtId",
		"Refs/Prtry/Ref", "RmtInf/Strd/CdtrRefInf/Ref", "RmtInf/Strd/RfrdDocInf/Nb":
		if text != "NOTPROVIDED" {
			addReference(&d.line, text)
		}
	case "RmtInf/Ustrd", "AddtlTxInf":
		if d.line.Description != "" && text != "" {
			text = " " + text
		}
		if len(d.line.Description) < maxTextBytes {
			d.line.Description += text
		}
	case "RtrInf", "RtrInf/Rsn/Cd", "RtrInf/Rsn/Prtry":
		d.line.Returned = true
	}
}

// addEntry adds an entry: one line for each of its payments if their amounts are known exactly,
// and one line for the entry otherwise.
func (c *camtParser) addEntry() error {
	e := &c.entry
	if e.status == "" && c.statement.withoutStatus == 0 {
		c.statement.withoutStatus = c.lineNumber()
	}
	if e.status != "BOOK" && e.status != "" {
		if err := c.beginStatementAccount(e.currency); err != nil {
			return err
		}
		c.current.Ignored++
		return nil
	}
	if e.line.Booked == reconcile.NoDay {
		if e.line.Booked = cmp.Or(e.line.Value, c.statement.onlyDay()); e.line.Booked == reconcile.NoDay {
			return reconcile.InvalidFile("line %d: an entry has no date, and the statement is not of a single day", c.lineNumber())
		}
	}
	if e.line.Value == reconcile.NoDay {
		e.line.Value = e.line.Booked
	}
	if err := c.beginStatementAccount(e.currency); err != nil {
		return err
	}
	total, err := c.parseEntryAmount("an entry", e.amount, e.currency, e.side)
	if err != nil {
		return err
	}
	if c.statement.sum, err = money.AddMinor(c.statement.sum, total); err != nil {
		return sumTooLargeError()
	}
	if c.detailsAddUp(total) {
		for i := range e.details {
			if err := c.addLine(e.detailLine(i)); err != nil {
				return err
			}
		}
		return nil
	}
	e.line.Amount = total
	addReference(&e.line, e.reference)
	for i := range e.details {
		d := &e.details[i].line
		if e.line.ServicerReference == "" && len(e.details) == 1 {
			e.line.ServicerReference = d.ServicerReference
		}
		addReference(&e.line, d.ServicerReference)
		for _, r := range d.References {
			addReference(&e.line, r)
		}
		if len(e.line.Description) < reconcile.MaxDescription {
			e.line.Description = strings.TrimSpace(e.line.Description + " " + d.Description)
		}
		e.line.Returned = e.line.Returned || d.Returned
	}
	return c.addLine(e.line)
}

// detailsAddUp reports whether the entry has several details that each have an amount in the
// account's currency and together add up to the entry.
func (c *camtParser) detailsAddUp(total int64) bool {
	e := &c.entry
	if len(e.details) < 2 {
		return false
	}
	var sum int64
	for i := range e.details {
		d := &e.details[i]
		side := d.side
		if side == "" {
			side = e.side
		}
		amount, err := c.parseEntryAmount("", d.amount, d.currency, side)
		if err != nil || amount == 0 {
			return false
		}
		d.line.Amount = amount
		if sum, err = money.AddMinor(sum, amount); err != nil {
			return false
		}
	}
	return sum == total
}

// detailLine returns the line of a detail.
func (e *statementEntry) detailLine(i int) reconcile.Line {
	l := e.details[i].line
	l.Booked, l.Value, l.Returned = e.line.Booked, e.line.Value, l.Returned || e.line.Returned
	if l.ServicerReference == "" && e.line.ServicerReference != "" {
		l.ServicerReference = fmt.Sprintf("%s#%d", e.line.ServicerReference, i+1)
	}
	for _, r := range e.line.References {
		addReference(&l, r)
	}
	if l.Description == "" {
		l.Description = e.line.Description
	}
	return l
}
