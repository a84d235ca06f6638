package iso20022

import (
	"slices"
	"strings"
	"time"
)

// WrittenReport is a report with what only its comparison with the ledger needs, as it is written. Fields that the bank did
// not write are empty.
type WrittenReport struct {
	Report
	MessageCreated WrittenTime // when the bank created the message
	Numbers        string      // the numbers of the statement
	Page           string
	From, To       WrittenTime
}

// WrittenBalance is a balance as it is written.
type WrittenBalance struct {
	Type    string
	OwnType bool // the type is the bank's own, and not one of ISO
	Amount  Stated
	At      WrittenTime
	Line    int
}

// WrittenEntry is an entry whose amounts are not interpreted yet.
type WrittenEntry struct {
	Entry
	Amount            Stated
	OwnStatus         bool   // the status is the bank's own, and not one of ISO
	ServicerReference string // the bank's reference, also if it says that there is none
	BatchReferences   []string
	Payments          []WrittenPayment

	batch     References // of a file of ours that is booked in one sum
	batchSize int
	charges   rawCharges
	details   []detail // of the payments; none if they are not asked for
}

// WrittenPayment is a payment of an entry as it is written.
type WrittenPayment struct {
	Amount            Stated
	ServicerReference string
	References        []string // all ids and references, each once, in the order of the file
	Description       string   // what the payer and the bank wrote, joined by spaces
	Returned          bool     // it was returned or rejected
	ownAmount         bool     // the amount is from Amt, not AmtDtls
}

// Stated is an amount as it is written: its digits, currency and direction.
type Stated struct{ Digits, Currency, Side string }

// WrittenTime is a date or time as it is written. Line is 0 if the bank wrote none.
type WrittenTime struct {
	Text string
	Line int
}

// Time returns the time in UTC. One without a zone is taken for UTC.
func (t WrittenTime) Time() (time.Time, bool) { return parseTime(t.Text) }

// Day returns the date, or the date of a time where the bank is, as midnight UTC.
func (t WrittenTime) Day() (time.Time, bool) { return parseDay(t.Text) }

// setPayment sets a part of the last payment.
func (e *WrittenEntry) setPayment(part, text, currency string) {
	last := len(e.Payments) - 1
	p := &e.Payments[last]
	switch {
	case part == "Amt":
		p.Amount.Digits, p.Amount.Currency, p.ownAmount = text, currency, true
	case part == "AmtDtls/TxAmt/Amt":
		if !p.ownAmount {
			p.Amount.Digits, p.Amount.Currency = text, currency
		}
	case part == "CdtDbtInd":
		p.Amount.Side = text
	case len(e.details) > 0:
		e.details[last].set(part, text, currency)
	default:
		p.set(part, text)
	}
}

// set sets a part of a payment that is compared with the ledger.
func (p *WrittenPayment) set(part, text string) {
	switch part {
	case "Refs/AcctSvcrRef":
		p.ServicerReference = text
	case "Refs/EndToEndId", "Refs/TxId", "Refs/InstrId", "Refs/UETR", "Refs/MsgId", "Refs/PmtInfId", "Refs/ChqNb", "Refs/ClrSysRef",
		"Refs/MndtId", "Refs/Prtry/Ref", "RmtInf/Strd/CdtrRefInf/Ref", "RmtInf/Strd/RfrdDocInf/Nb":
		if text != "NOTPROVIDED" && !slices.Contains(p.References, text) {
			addListed(&p.References, text)
		}
	case "RmtInf/Ustrd", "AddtlTxInf":
		addWords(&p.Description, text)
	default:
		if first, _, _ := strings.Cut(part, "/"); first == "RtrInf" {
			p.Returned = true
		}
	}
}
