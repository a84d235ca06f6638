package iso20022

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"causeway/core/money"
)

func (e *WrittenEntry) set(s *scanner, part, text string) error {
	switch part {
	case "NtryRef":
		e.Reference = text
	case "Amt":
		e.Amount.Digits, e.Amount.Currency = text, s.currency
	case "CdtDbtInd":
		e.Amount.Side = text
	case "RvslInd":
		e.Reversal = text == "true" || text == "1"
	case "Sts", "Sts/Cd", "Sts/Prtry":
		e.OwnStatus = e.OwnStatus || part == "Sts/Prtry"
		if text != "" {
			e.Status = text
		}
	case "BookgDt/Dt", "BookgDt/DtTm":
		if part == "BookgDt/DtTm" {
			e.BookedAt, _ = parseTime(text)
		}
		return s.setDay(&e.Booked, text)
	case "ValDt/Dt", "ValDt/DtTm":
		if part == "ValDt/DtTm" {
			e.ValueAt, _ = parseTime(text)
		}
		return s.setDay(&e.Value, text)
	case "AcctSvcrRef":
		e.ServicerReference, e.PartnerID = text, provided(text)
	case "AddtlNtryInf":
		e.Text = text
	case "NtryDtls/Btch/MsgId":
		e.batch.MessageID = provided(text)
		addListed(&e.BatchReferences, text)
	case "NtryDtls/Btch/PmtInfId":
		e.batch.BlockID = provided(text)
		addListed(&e.BatchReferences, text)
	case "NtryDtls/Btch/NbOfTxs":
		e.batchSize, _ = strconv.Atoi(text)
	default:
		if rest, found := strings.CutPrefix(part, "BkTxCd/"); found {
			e.TransactionCode.set(rest, text)
		} else if rest, found := strings.CutPrefix(part, "Chrgs/"); found {
			e.charges.set(rest, text, s.currency)
		}
	}
	return nil
}

func (s *scanner) setDay(to *time.Time, text string) error {
	day, ok := parseDay(text)
	if !ok {
		return s.errorf("%.40q is not a date: ask the bank for a new file", text)
	}
	*to = day
	return nil
}

// parseDay parses a date, or the date of a time where the bank is, as midnight UTC.
func parseDay(text string) (time.Time, bool) {
	day, err := time.Parse(time.DateOnly, text[:min(len(text), len(time.DateOnly))])
	return day, err == nil
}

// provided returns a reference, and nothing if there is none.
func provided(reference string) string {
	if reference == "NOTPROVIDED" || reference == "NONREF" {
		return ""
	}
	return reference
}

// understand returns the entry with its payments.
func (e *WrittenEntry) understand() (Entry, error) {
	result := e.Entry
	amount, err := parseAmount(e.Amount)
	switch {
	case err != nil:
		return Entry{}, fmt.Errorf("an entry: %w", err)
	case e.Amount.Side != "CRDT" && e.Amount.Side != "DBIT":
		return Entry{}, errors.New("an entry is neither CRDT nor DBIT: ask the bank to state it")
	}
	result.Amount, result.Credit, result.Charges = amount, e.Amount.Side == "CRDT", e.charges.list
	sum, known := e.divides(amount)
	if known && sum != amount && len(e.Payments) > 1 && !e.chargesExplain(amount, sum) {
		result.Details = sum
	}
	if len(e.Payments) > 1 && known && sum == amount {
		result.Payments = make([]Payment, len(e.details))
		for i := range e.details {
			result.Payments[i] = e.details[i].Payment
		}
	} else {
		result.Payments = []Payment{e.whole(amount)}
		if result.Undivided = max(len(e.Payments), e.batchSize); result.Undivided == 1 {
			result.Undivided = 0
		}
	}
	for i := range result.Payments {
		p := &result.Payments[i]
		if p.TransactionCode == (TransactionCode{}) {
			p.TransactionCode = result.TransactionCode
		}
	}
	return result, nil
}

// chargesExplain reports whether the charges of the entry are what it differs by from its payments.
func (e *WrittenEntry) chargesExplain(amount, sum money.Amount) bool {
	var charges int64
	for _, c := range e.charges.list {
		charges += c.Amount.Minor
	}
	return charges != 0 && (amount.Minor-sum.Minor == charges || sum.Minor-amount.Minor == charges)
}

// whole returns the entry as one payment: the only one that it has, or all together.
func (e *WrittenEntry) whole(amount money.Amount) Payment {
	var result Payment
	if len(e.details) == 1 {
		only := &e.details[0]
		result = only.Payment
		result.Charges = only.charges.list
		if stated, err := parseAmount(e.Payments[0].Amount); err == nil && result.Instructed == (money.Amount{}) {
			result.Instructed = stated
		}
	}
	result.Amount = amount
	if result.Instructed == amount {
		result.Instructed = money.Amount{}
	}
	result.References.MessageID = cmp.Or(result.References.MessageID, e.batch.MessageID)
	result.References.BlockID = cmp.Or(result.References.BlockID, e.batch.BlockID)
	return result
}

// divides returns what the amounts of the payments add up to, and whether they are all known in the currency of the account. It
// sets them.
func (e *WrittenEntry) divides(total money.Amount) (money.Amount, bool) {
	var sum int64
	for i := range e.details {
		stated, p := e.Payments[i].Amount, &e.details[i]
		amount, err := parseAmount(stated)
		if err != nil || amount.Currency != total.Currency || stated.Side != "" && stated.Side != e.Amount.Side {
			return money.Amount{}, false
		}
		if sum, err = money.AddMinor(sum, amount.Minor); err != nil {
			return money.Amount{}, false
		}
		p.Amount, p.Charges = amount, p.charges.list
		if p.Instructed == amount {
			p.Instructed = money.Amount{}
		}
	}
	return money.Amount{Minor: sum, Currency: total.Currency}, true
}

func (c *TransactionCode) set(part, text string) {
	switch part {
	case "Domn/Cd":
		c.Domain = text
	case "Domn/Fmly/Cd":
		c.Family = text
	case "Domn/Fmly/SubFmlyCd":
		c.SubFamily = text
	case "Prtry/Cd":
		c.Proprietary = text
	case "Prtry/Issr":
		c.Issuer = text
	}
}

// maxCharges is how many charges of an entry or payment are kept.
const maxCharges = 50

// rawCharges are the charges of an entry or payment: in a record each since version 4, without records before.
type rawCharges struct{ list []Charge }

func (c *rawCharges) set(part, text, currency string) {
	part = strings.TrimPrefix(part, "Rcrd/")
	if part == "Amt" {
		amount, err := parseAmount(Stated{Digits: text, Currency: currency})
		if err == nil {
			c.list = append(c.list[:min(len(c.list), maxCharges-1)], Charge{Amount: amount})
		}
		return
	}
	if len(c.list) == 0 {
		return
	}
	last := &c.list[len(c.list)-1]
	switch part {
	case "CdtDbtInd":
		last.Credit = text == "CRDT"
	case "ChrgInclInd":
		last.Included = text == "true" || text == "1"
	case "Br", "Tp/Cd", "Tp/Prtry/Id":
		last.Type = text
	}
}
