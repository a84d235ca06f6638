package iso20022

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strings"

	"causeway/core/money"
)

// detail is what a payment of an entry consists of besides its amount.
type detail struct {
	Payment
	charges rawCharges
}

// maxListed is how many references and documents of a payment are kept.
const maxListed = 20

func (p *detail) set(part, text, currency string) {
	switch first, rest, _ := strings.Cut(part, "/"); first {
	case "Refs":
		p.References.set(rest, text)
	case "RltdPties":
		p.setParty(rest, text)
	case "RltdAgts":
		p.setAgent(rest, text)
	case "RmtInf":
		p.setRemittance(rest, text)
	case "RtrInf":
		p.setReturn(rest, text)
	case "BkTxCd":
		p.TransactionCode.set(rest, text)
	case "Chrgs":
		p.charges.set(rest, text, currency)
	case "AmtDtls":
		if rest != "InstdAmt/Amt" {
			return
		}
		if amount, err := parseAmount(Stated{Digits: text, Currency: currency}); err == nil {
			p.Instructed = amount
		}
	case "Purp":
		if rest != "" {
			p.Purpose = text
		}
	case "AddtlTxInf":
		p.Text = text
	}
}

func (r *References) set(part, text string) {
	text = provided(text)
	switch part {
	case "MsgId":
		r.MessageID = text
	case "AcctSvcrRef":
		r.PartnerID = text
	case "PmtInfId":
		r.BlockID = text
	case "InstrId":
		r.InstructionID = text
	case "EndToEndId":
		r.EndToEndID = text
	case "UETR":
		r.UETR = text
	case "TxId":
		r.TransactionID = text
	case "MndtId":
		r.MandateID = text
	case "ClrSysRef":
		r.ClearingID = text
	}
}

// setParty sets a part of a party or account. Since version 4 a party is a person or organisation (Pty) or a bank (Agt).
func (p *Payment) setParty(part, text string) {
	name, rest, _ := strings.Cut(part, "/")
	switch name {
	case "Dbtr":
		p.Debtor.set(rest, text)
	case "Cdtr":
		p.Creditor.set(rest, text)
	case "UltmtDbtr":
		p.UltimateDebtor.set(rest, text)
	case "UltmtCdtr":
		p.UltimateCreditor.set(rest, text)
	case "DbtrAcct":
		p.DebtorAccount.set(rest, text)
	case "CdtrAcct":
		p.CreditorAccount.set(rest, text)
	}
}

func (p *Party) set(part, text string) {
	part = strings.TrimPrefix(part, "Pty/")
	switch part {
	case "Nm", "Agt/FinInstnId/Nm":
		p.Name = text
	case "Id/OrgId/Othr/Id", "Id/PrvtId/Othr/Id":
		p.OrganisationID, p.Person = text, part == "Id/PrvtId/Othr/Id"
	case "Id/OrgId/Othr/SchmeNm/Cd", "Id/PrvtId/Othr/SchmeNm/Cd":
		p.OrganisationScheme = text
	default:
		if rest, found := strings.CutPrefix(part, "PstlAdr/"); found {
			if p.Address == nil {
				p.Address = &Address{}
			}
			p.Address.set(rest, text)
		}
	}
}

func (a *Address) set(part, text string) {
	switch part {
	case "StrtNm":
		a.Street = text
	case "BldgNb":
		a.BuildingNumber = text
	case "Room":
		a.Room = text
	case "PstCd":
		a.PostalCode = text
	case "TwnNm":
		a.Town = text
	case "CtrySubDvsn":
		a.State = text
	case "Ctry":
		a.Country = text
	case "AdrLine":
		if len(a.Lines) < maxListed {
			a.Lines = append(a.Lines, text)
		}
	}
}

func (p *Payment) setAgent(part, text string) {
	name, rest, _ := strings.Cut(part, "/")
	switch name {
	case "DbtrAgt":
		p.DebtorAgent.set(rest, text)
	case "CdtrAgt":
		p.CreditorAgent.set(rest, text)
	}
}

func (a *Agent) set(part, text string) {
	switch part {
	case "FinInstnId/BIC", "FinInstnId/BICFI":
		a.BIC = text
	case "FinInstnId/ClrSysMmbId/ClrSysId/Cd":
		a.ClearingSystem = text
	case "FinInstnId/ClrSysMmbId/MmbId":
		a.MemberID = text
	case "FinInstnId/Nm":
		a.Name = text
	}
}

func (p *Payment) setRemittance(part, text string) {
	switch part {
	case "Ustrd", "Strd/AddtlRmtInf":
		addWords(&p.Remittance, text)
	case "Strd/CdtrRefInf/Ref":
		addListed(&p.CreditorReferences, text)
	case "Strd/RfrdDocInf/Nb":
		addListed(&p.Documents, text)
	}
}

func addListed(list *[]string, text string) {
	if text != "" && len(*list) < maxListed {
		*list = append(*list, text)
	}
}

func (p *Payment) setReturn(part, text string) {
	if p.Return == nil {
		p.Return = &Return{}
	}
	switch part {
	case "Rsn/Cd":
		p.Return.Code = text
	case "Rsn/Prtry":
		p.Return.Code, p.Return.Proprietary = text, true
	case "AddtlInf":
		addWords(&p.Return.Text, text)
	default:
		if rest, found := strings.CutPrefix(part, "OrgnlBkTxCd/"); found {
			p.Return.Original.set(rest, text)
		}
	}
}

// unnamedKey is a hash of what a bank wrote about a payment to which it gave no id.
type unnamedKey [16]byte

// name sets the ids of the bank for the payments of an entry. They are the same however often and in whichever file the
// bank reports the entry.
func (u *understanding) name(account Account, e Entry) {
	single := ""
	if len(e.Payments) == 1 {
		single = e.PartnerID
	}
	seen := make(map[string]int, len(e.Payments))
	for i := range e.Payments {
		payment := &e.Payments[i]
		payment.PartnerID = cmp.Or(payment.References.PartnerID, single, payment.References.UETR, payment.References.ClearingID)
		if payment.PartnerID == "" {
			payment.PartnerID, payment.Unnamed = u.hashOf(account, e, *payment), true
		} else {
			seen[payment.PartnerID]++
		}
	}
	numbers := make(map[string]int, len(e.Payments))
	for i := range e.Payments {
		if payment := &e.Payments[i]; seen[payment.PartnerID] > 1 {
			id := payment.PartnerID
			numbers[id]++
			payment.PartnerID = fmt.Sprintf("%s/%d", id, numbers[id])
		}
	}
}

// hashOf returns an id of a payment to which the bank gave none.
func (u *understanding) hashOf(account Account, e Entry, payment Payment) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %v %v %d %d %d %v %q %q %q %q %q %q",
		account.IBAN, account.Number, e.Credit, e.Reversal, e.Booked.Unix(), e.BookedAt.Unix(), e.Value.Unix(), payment.Amount,
		e.PartnerID, payment.References, payment.Debtor.Name, payment.DebtorAccount, payment.Remittance, payment.CreditorReferences))
	key := unnamedKey(sum[:])
	u.unnamed[key]++
	if n := u.unnamed[key]; n > 1 {
		return fmt.Sprintf("sha256:%x/%d", key, n)
	}
	return fmt.Sprintf("sha256:%x", key)
}

// parseAmount parses an amount without a sign. Banks write zeros after the minor unit.
func parseAmount(a Stated) (money.Amount, error) {
	text := a.Digits
	currency, err := money.ParseCurrency(a.Currency)
	if err != nil {
		return money.Amount{}, fmt.Errorf("its currency %.8q is unknown", a.Currency)
	}
	whole, fraction, _ := strings.Cut(text, ".")
	decimals := currency.Decimals()
	if len(fraction) > decimals {
		if strings.Trim(fraction[decimals:], "0") != "" {
			return money.Amount{}, fmt.Errorf("its amount %.40q has more than the %d decimals of %s", text, decimals, currency)
		}
		fraction = fraction[:decimals]
	}
	digits := whole + fraction + strings.Repeat("0", decimals-len(fraction))
	if whole+fraction == "" || len(text) > 40 || !isDigits(digits) {
		return money.Amount{}, fmt.Errorf("its amount %.40q is not a number without a sign", text)
	}
	total, err := money.ParseTotal(digits)
	if err != nil {
		return money.Amount{}, err
	}
	minor, ok := total.Minor()
	if !ok {
		return money.Amount{}, fmt.Errorf("its amount %.40q is too large", text)
	}
	return money.Amount{Minor: minor, Currency: currency}, nil
}
