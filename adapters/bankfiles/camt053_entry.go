package bankfiles

import (
	"fmt"
	"strings"

	"causeway/core/money"
	"causeway/core/reconcile"
)

// statementEntry is an entry of the partner: one line, or as many as it has details.
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
	hasOwnAmount           bool // the amount is the detail's own, and not that of its parts
}

func (c *camtParser) setEntryField(part, said string) (err error) {
	e := &c.entry
	switch part {
	case "NtryRef":
		e.reference = said
	case "Amt":
		e.amount, e.currency = said, c.elementCurrency
	case "CdtDbtInd":
		e.side = said
	case "RvslInd":
		e.line.Returned = said == "true" || said == "1"
	case "Sts", "Sts/Cd":
		if said != "" {
			e.status = said
		}
	case "BookgDt/Dt", "BookgDt/DtTm":
		e.line.Booked, err = c.parseDay(said)
	case "ValDt/Dt", "ValDt/DtTm":
		e.line.Value, err = c.parseDay(said)
	case "AcctSvcrRef":
		e.line.ServicerReference = said
	case "AddtlNtryInf":
		e.line.Description = said
	case "NtryDtls/Btch/MsgId", "NtryDtls/Btch/PmtInfId":
		addReference(&e.line, said)
	}
	return err
}

func (c *camtParser) setDetailField(part, said string) {
	d := &c.entry.details[len(c.entry.details)-1]
	switch part {
	case "Amt":
		d.amount, d.currency, d.hasOwnAmount = said, c.elementCurrency, true
	case "AmtDtls/TxAmt/Amt":
		if !d.hasOwnAmount {
			d.amount, d.currency = said, c.elementCurrency
		}
	case "CdtDbtInd":
		d.side = said
	case "Refs/AcctSvcrRef":
		d.line.ServicerReference = said
	case "Refs/EndToEndId", "Refs/TxId", "Refs/InstrId", "Refs/UETR", "Refs/MsgId", "Refs/PmtInfId", "Refs/ChqNb", "Refs/ClrSysRef", "Refs/MndtId",
		"Refs/Prtry/Ref", "RmtInf/Strd/CdtrRefInf/Ref", "RmtInf/Strd/RfrdDocInf/Nb":
		if said != "NOTPROVIDED" {
			addReference(&d.line, said)
		}
	case "RmtInf/Ustrd", "AddtlTxInf":
		if d.line.Description != "" && said != "" {
			said = " " + said
		}
		if len(d.line.Description) < maxTextBytes {
			d.line.Description += said
		}
	case "RtrInf", "RtrInf/Rsn/Cd", "RtrInf/Rsn/Prtry":
		d.line.Returned = true
	}
}

// addEntry takes an entry in: as the payments it is made of where each is told exactly, and
// else as a whole.
func (c *camtParser) addEntry() error {
	e := &c.entry
	if e.status != "BOOK" {
		if e.status == "" {
			return reconcile.InvalidFile("line %d: an entry does not say whether it is booked", c.lineNumber())
		}
		c.Ignored++
		return nil
	}
	if e.line.Booked == reconcile.NoDay {
		if e.line.Booked = e.line.Value; e.line.Booked == reconcile.NoDay {
			return reconcile.InvalidFile("line %d: an entry has no day", c.lineNumber())
		}
	}
	if e.line.Value == reconcile.NoDay {
		e.line.Value = e.line.Booked
	}
	whole, err := c.parseAmount("an entry", e.amount, e.currency, e.side)
	if err != nil {
		return err
	}
	if c.statement.sum, err = money.AddMinor(c.statement.sum, whole); err != nil {
		return reconcile.InvalidFile("adds up to more than can be counted")
	}
	if c.detailsAddUp(whole) {
		for i := range e.details {
			if err := c.addLine(e.detailLine(i)); err != nil {
				return err
			}
		}
		return nil
	}
	e.line.Amount = whole
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

// detailsAddUp tells whether the entry is made of payments that are told exactly: each with an
// amount in the account's currency, and all together the entry's.
func (c *camtParser) detailsAddUp(whole int64) bool {
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
		amount, err := c.parseAmount("", d.amount, d.currency, side)
		if err != nil || amount == 0 {
			return false
		}
		d.line.Amount = amount
		if sum, err = money.AddMinor(sum, amount); err != nil {
			return false
		}
	}
	return sum == whole
}

// detailLine is the line of one of the entry's payments.
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
