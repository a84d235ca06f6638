package partner

import (
	"errors"
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/plaintext"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// newPayment returns what the three kinds have in common.
func newPayment(kind Kind, id uuid.UUID, p ident.Platform, amount money.Amount) Payment {
	return Payment{Kind: kind, ID: id.String(), EndToEndID: rail.EndToEndID(id), PlatformID: p.String(), Amount: newAmount(amount)}
}

func newPayout(p ports.Payout) Payment {
	t := p.Transaction
	out := newPayment(Payout, t.ID.UUID(), t.Platform, t.Pricing.Received)
	out.Rail, out.Reference, out.Memo, out.Account = t.DestinationRail.PublicName(), t.Reference, t.TextForBeneficiary(), newAccount(p.Account)
	out.Purpose = t.Purpose
	return out
}

func newCollection(c ports.Collection) Payment {
	t := c.Transaction
	out := newPayment(Collection, t.ID.UUID(), t.Platform, t.Pricing.Sent)
	out.Rail, out.Reference, out.Memo, out.Account = t.SourceRail.PublicName(), t.Reference, t.Description, newAccount(c.Account)
	return out
}

func newRefund(r ports.Refund) Payment {
	out := newPayment(Refund, r.ID, r.Platform, r.Amount)
	out.Rail, out.Reference = r.Rail.PublicName(), r.Reference
	out.Original = &Original{PartnerID: r.Original.PartnerID}
	if !r.Original.Collection.IsZero() {
		out.Original.EndToEndID = rail.EndToEndID(r.Original.Collection.UUID())
	}
	if r.Original.Payer != nil {
		out.Account = newAccount(*r.Original.Payer)
		out.Original.Payer = out.Account
	}
	return out
}

// newAccount returns nil for an account that is none, as of a payment to a UMA address.
func newAccount(a account.External) *Account {
	if a.Type == "" {
		return nil
	}
	out := &Account{Type: string(a.Type), Currency: string(a.Currency), Country: a.Country(), Fields: a.Fields}
	if out.Fields == nil {
		out.Fields = map[string]string{}
	}
	if b := a.Beneficiary; b != nil {
		out.Holder = &Holder{Type: string(b.Type), Name: b.Name(), BirthDate: b.BirthDate, Nationality: b.Nationality, Email: b.Email,
			PhoneNumber:        b.PhoneNumber,
			CountryOfResidence: b.CountryOfResidence, RegistrationNumber: b.RegistrationNumber, TaxID: b.TaxID, DocumentType: b.DocumentType,
			DocumentNumber: b.DocumentNumber}
		if b.Address != nil {
			address := Address(*b.Address)
			out.Holder.Address = &address
		}
	}
	return out
}

// maxFields and maxField bound an account that a partner names; maxField in bytes.
const (
	maxFields = 32
	maxField  = 2000
)

// external returns the account of a payer as the partner has named it, which may have less than one that is registered.
func (a Account) external() (account.External, error) {
	currency, err := money.ParseCurrency(a.Currency)
	switch {
	case err != nil:
		return account.External{}, errors.New("payer.currency is not a known code")
	case a.Type == "" || !isText(a.Type, 40):
		return account.External{}, errors.New("payer.type is required, with at most 40 characters")
	case len(a.Fields) > maxFields:
		return account.External{}, fmt.Errorf("payer.fields has more than %d elements", maxFields)
	}
	out := account.External{Type: account.Type(a.Type), Currency: currency}
	if a.Fields != nil {
		out.Fields = make(map[string]string, len(a.Fields))
	}
	for name, value := range a.Fields {
		out.Fields[plaintext.Clean(name, maxField)] = plaintext.Clean(value, maxField)
	}
	if h := a.Holder; h != nil {
		name := plaintext.Clean(h.Name, maxField)
		out.Beneficiary = &account.Beneficiary{Type: account.BeneficiaryType(h.Type)}
		if out.Beneficiary.Type == account.Business {
			out.Beneficiary.LegalName = name
		} else {
			out.Beneficiary.Type, out.Beneficiary.FullName = account.Individual, name
		}
	}
	return out, nil
}

// isText reports whether a text is valid, printable and not too long.
func isText(text string, maxRunes int) bool {
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) > maxRunes {
		return false
	}
	for _, r := range text {
		if unicode.IsControl(r) {
			return false
		}
	}
	return true
}

// maxAhead is how far a time of the partner may be in the future: its clock may differ, and a date in another time
// zone may have begun.
const maxAhead = 26 * time.Hour

// isTime reports whether a time can be that of something that has happened.
func isTime(at, now time.Time) bool { return at.Year() >= 2000 && !at.After(now.Add(maxAhead)) }

// check returns why a state cannot be the answer to a request about a payment.
func (s State) check(p Payment, now time.Time) error {
	if s.ID != p.ID {
		return errors.New("the answer is about another payment: its id differs from the request")
	}
	if s.Amount != p.Amount {
		return errors.New("the answer has another amount than the request")
	}
	required := map[string]bool{}
	switch s.Status {
	case Accepted, Pending:
	case Settled:
		required["settledAt"] = !s.SettledAt.IsZero()
	case Rejected:
		required["code"] = s.Code != ""
	case Returned:
		required["settledAt"], required["returnedAt"], required["code"] = !s.SettledAt.IsZero(), !s.ReturnedAt.IsZero(), s.Code != ""
	default:
		return errors.New("status is none of ACCEPTED, PENDING, SETTLED, REJECTED and RETURNED")
	}
	for _, name := range []string{"settledAt", "returnedAt", "code"} {
		if given, isRequired := required[name]; isRequired && !given {
			return fmt.Errorf("%s is required with the status %s", name, s.Status)
		}
	}
	for name, at := range map[string]time.Time{"acceptedAt": s.AcceptedAt, "settledAt": s.SettledAt, "returnedAt": s.ReturnedAt} {
		if !at.IsZero() && !isTime(at, now) {
			return fmt.Errorf("%s is before 2000 or in the future", name)
		}
	}
	if !isText(s.PartnerID, transaction.MaxPartnerID) || !isText(s.Code, transaction.MaxPartnerCode) ||
		!isText(s.TransactionHash, transaction.MaxPartnerID) {
		return errors.New("partnerId, transactionHash or code is too long or has control characters")
	}
	return nil
}

// refusalOf returns what the code of a rejected payment means.
func refusalOf(kind Kind, code string) transaction.Refusal {
	if kind == Collection {
		return transaction.CollectionRefusal(code)
	}
	return transaction.PayoutRefusal(code)
}

// outcome returns the outcome that a state has. began is when the payment became due, zero if unknown.
func (r *Rail) outcome(kind Kind, s State, began, now time.Time) ports.Outcome {
	o := ports.Outcome{PartnerID: s.PartnerID, Code: s.Code, TransactionHash: s.TransactionHash,
		Text: plaintext.Clean(s.Text, transaction.MaxPartnerText), Accepted: !s.AcceptedAt.IsZero()}
	switch s.Status {
	case Settled:
		o.Verdict, o.Accepted = ports.Done, true
		if s.ReturnableUntil.After(now) {
			o.RetryAt = earlier(now.Add(returnPoll), s.ReturnableUntil)
		}
	case Returned:
		o.Verdict, o.Accepted, o.ReturnedAt = ports.Returned, true, s.ReturnedAt
	case Rejected:
		refusal := refusalOf(kind, s.Code)
		if refusal.Temporary { // the partner may do it yet, or has done it before
			o.Verdict, o.RetryAt = ports.Waiting, r.pollAt(began, now)
			break
		}
		o.Verdict, o.Reason = ports.Refused, refusal.Reason
	case Accepted, Pending:
		o.Verdict, o.Accepted, o.ExpectedAt = ports.Waiting, o.Accepted || s.Status == Accepted, s.ExpectedSettlementAt
		o.RetryAt = r.pollAt(began, now)
	}
	return o
}

// pollAt returns when a payment that is not final is asked about again: less and less often.
func (r *Rail) pollAt(began, now time.Time) time.Time {
	var age time.Duration
	if !began.IsZero() {
		age = now.Sub(began)
	}
	return now.Add(max(r.settings.poll, min(age/4, maxPoll)))
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
