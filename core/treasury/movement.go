package treasury

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/safeguarding"
	"causeway/ledger"
)

// Kind is the kind of a movement.
type Kind string

// The kinds.
const (
	Sweep      Kind = "SWEEP"      // fees earned, to an account of the company
	Transfer   Kind = "TRANSFER"   // between two accounts
	Settlement Kind = "SETTLEMENT" // an exchange with a liquidity provider
)

// Kinds lists every kind.
func Kinds() []Kind { return []Kind{Sweep, Transfer, Settlement} }

// Movement is one movement of money between accounts at partners.
type Movement struct {
	ID       ident.Movement
	Platform ident.Platform
	Kind     Kind
	// Amount leaves the account From and reaches the account To. Those of a settlement are what is sold and the
	// account that pays it; Bought reaches To.
	From, To string
	Amount   money.Amount
	Bought   money.Amount // only of a settlement
	// InTransit is a transfer that arrives later than it was sent.
	InTransit bool
	// AllowOverdraft lets an account go below zero. The note says why.
	AllowOverdraft bool
	Note           string
	// Effective is when it counts; zero for now. Posting records it; its effective time may be a later one.
	Effective time.Time
	Posting   uuid.UUID
	At        time.Time
	By        platform.Author
	Approval  platform.Approval // zero without four eyes
	// Arrival is when a transfer in transit arrived; nil if it has not.
	Arrival *Arrival
}

// Arrival is the arrival of a transfer that was in transit.
type Arrival struct {
	Posting   uuid.UUID
	Effective time.Time
	At        time.Time
	By        platform.Author
	Approval  platform.Approval // zero without four eyes
}

// IsOpen reports whether money of the movement is still on its way.
func (m Movement) IsOpen() bool { return m.InTransit && m.Arrival == nil }

// Check returns everything that is wrong with a movement, by request field.
func (m Movement) Check(purposes safeguarding.Purposes, now time.Time) []fault.Field {
	bad := period.CheckNote(m.Note, !m.AllowOverdraft)
	if m.Effective.After(now) {
		bad = append(bad, fault.Field{Field: "effectiveAt", Message: "must not be in the future"})
	}
	if !m.Effective.IsZero() && period.MonthOf(m.Effective).Before(period.Earliest) {
		bad = append(bad, fault.Field{Field: "effectiveAt", Message: "must not be before the year 2000"})
	}
	bad = append(bad, m.checkAccounts(purposes)...)
	bad = append(bad, checkAmount("amount", "currency", m.Amount)...)
	if m.Kind == Settlement {
		bad = append(bad, checkAmount("boughtAmount", "boughtCurrency", m.Bought)...)
		if m.Bought.Currency == m.Amount.Currency && m.Amount.Currency != "" {
			bad = append(bad, fault.Field{Field: "boughtCurrency", Message: "must differ from the currency that is sold"})
		}
	}
	return bad
}

func checkAmount(amountField, currencyField string, a money.Amount) (bad []fault.Field) {
	if !a.Currency.Known() {
		bad = append(bad, fault.Field{Field: currencyField, Message: "is not a supported currency"})
	}
	if a.Minor < 1 || a.Minor > ledger.MaxAmount {
		bad = append(bad, fault.Field{Field: amountField, Message: "must be at least 1, in the smallest unit of the currency"})
	}
	return bad
}

const accountForms = "must be an account at a partner: rails/<RAIL>, chains/<network> or own/<NAME>"

// checkAccounts checks which accounts the kind allows.
func (m Movement) checkAccounts(purposes safeguarding.Purposes) (bad []fault.Field) {
	refuse := func(field, message string) { bad = append(bad, fault.Field{Field: field, Message: message}) }
	from, fromOK := atPartner(purposes, m.From)
	to, toOK := atPartner(purposes, m.To)
	switch m.Kind {
	case Sweep:
		if !fromOK || from != safeguarding.Client {
			refuse("from", "must be an account with customers' money: rails/<RAIL> or chains/<network> with the purpose CLIENT")
		}
		if !toOK || to != safeguarding.Own {
			refuse("to", "must be an account with the company's own money, such as own/OPERATING")
		}
	case Transfer:
		if !fromOK && (m.InTransit || !isIn(m.From, "partner-receivables/")) {
			refuse("from", accountForms+", or, unless it is in transit, partner-receivables/<RAIL>")
		}
		if !toOK && (m.InTransit || !isIn(m.To, "partner-payables/")) {
			refuse("to", accountForms+", or, unless it is in transit, partner-payables/<RAIL>")
		}
		if fromOK && m.From == m.To {
			refuse("to", "must differ from from")
		}
	case Settlement:
		if !fromOK && !isIn(m.From, "partner-payables/") {
			refuse("from", accountForms+", or partner-payables/<RAIL> to pay later")
		}
		if !toOK && !isIn(m.To, "partner-receivables/") {
			refuse("to", accountForms+", or partner-receivables/<RAIL> to be paid later")
		}
	}
	return bad
}

func isIn(path, group string) bool {
	_, err := ledger.FindChartLine(path)
	return err == nil && strings.HasPrefix(path, group)
}

// atPartner returns the purpose of an account at a partner.
func atPartner(purposes safeguarding.Purposes, path string) (safeguarding.Purpose, bool) {
	if !isIn(path, "rails/") && !isIn(path, "chains/") && !isIn(path, "own/") {
		return "", false
	}
	return purposes.Of(path)
}

// PostingFor returns the posting of a movement; that of a transfer in transit moves it into transit.
func (m Movement) PostingFor(purposes safeguarding.Purposes) ledger.Posting {
	h := ledger.Header{ID: m.Posting, Platform: m.Platform, Effective: m.effective(), Memo: m.memo()}
	switch {
	case m.Kind == Sweep:
		return ledger.Sweep(h, m.From, m.To, m.Amount)
	case m.Kind == Settlement:
		return ledger.FXSettled(h, ledger.FXSettlement{Sold: m.Amount, Bought: m.Bought, PaidFrom: m.From, ReceivedAt: m.To})
	case m.InTransit:
		return ledger.TreasuryTransfer(h, m.From, m.transit(purposes), m.Amount)
	default:
		return ledger.TreasuryTransfer(h, m.From, m.To, m.Amount)
	}
}

// IsPostedBy reports whether a posting is that of the movement, perhaps redated. The account in transit depended on
// the purposes at that time.
func (m Movement) IsPostedBy(p ledger.Posting) bool {
	for _, purposes := range []safeguarding.Purposes{{}, {m.From: safeguarding.Own}} {
		if m.PostingFor(purposes).IsRepeatOf(p) {
			return true
		}
	}
	return false
}

// transit returns the account that holds a transfer in transit: money between two accounts of customers
// remains theirs.
func (m Movement) transit(purposes safeguarding.Purposes) string {
	from, _ := purposes.Of(m.From)
	to, _ := purposes.Of(m.To)
	if from == safeguarding.Client && to == safeguarding.Client {
		return ledger.TransitClientMoney
	}
	return ledger.TransitTreasury
}

// ArrivalPosting returns the posting of the arrival of a transfer, from the account that its first posting sent
// it to.
func (m Movement) ArrivalPosting(a Arrival, sent ledger.Posting) ledger.Posting {
	return ledger.TreasuryTransfer(ledger.Header{ID: a.Posting, Platform: m.Platform, Effective: a.Effective, Memo: m.memo()},
		sent.Entries[0].Debit, m.To, m.Amount)
}

func (m Movement) effective() time.Time {
	if m.Effective.IsZero() {
		return m.At
	}
	return m.Effective
}

// memo begins with the id, so that the posting names its movement.
func (m Movement) memo() string {
	if m.Note == "" {
		return m.ID.String()
	}
	return ledger.MemoOf(m.ID.String() + " " + m.Note)
}

// ClientMoneyOut returns what a posting takes out of the accounts with customers' money of each currency
// without leaving it in another one.
func ClientMoneyOut(purposes safeguarding.Purposes, p ledger.Posting) []money.Amount {
	return sumByCurrency(p, func(path string) bool {
		purpose, ok := purposes.Of(path)
		return ok && purpose == safeguarding.Client
	})
}

// sumByCurrency returns the decrease of a group of assets in each currency in which they decrease.
func sumByCurrency(p ledger.Posting, isIn func(path string) bool) []money.Amount {
	var out []money.Amount
	add := func(c money.Currency, minor int64) {
		i := slices.IndexFunc(out, func(a money.Amount) bool { return a.Currency == c })
		if i < 0 {
			i, out = len(out), append(out, money.Amount{Currency: c})
		}
		out[i].Minor += minor
	}
	for _, e := range p.Entries {
		if isIn(e.Credit) {
			add(e.Currency, e.Amount)
		}
		if isIn(e.Debit) {
			add(e.Currency, -e.Amount)
		}
	}
	return slices.DeleteFunc(out, func(a money.Amount) bool { return a.Minor <= 0 })
}

// CheckExcess returns CONFLICT, with both numbers, if a movement would take more out of the accounts with
// customers' money than they hold beyond what is owed; at is the time of that excess, and zero for now.
func CheckExcess(out money.Amount, excess money.Total, at time.Time) error {
	if excess.Sub(money.TotalOf(out.Minor)).Sign() >= 0 {
		return nil
	}
	available, when := excess, ""
	if available.Sign() < 0 {
		available = money.Total{}
	}
	details := map[string]any{"currency": string(out.Currency), "excess": excess.String(), "requested": money.TotalOf(out.Minor).String()}
	if !at.IsZero() {
		details["effectiveAt"] = at.UTC().Format(time.RFC3339)
		when = " at " + at.UTC().Format(time.RFC3339)
	}
	f := conflict("Exceeds the excess", "The accounts with customers' money can give up %s %s%s, and %s %s are requested. Move less, or "+
		"first move the company's own money into them.",
		available.Major(out.Currency), out.Currency, when, money.TotalOf(out.Minor).Major(out.Currency), out.Currency)
	f.Details = details
	return f
}

// CheckConfirmed returns CONFLICT if a movement would take more out of the accounts with customers' money than what of their
// excess is confirmed; day is the last one whose statements are looked for.
func CheckConfirmed(out money.Amount, excess money.Total, accounts []safeguarding.Held, day safeguarding.Day) error {
	confirmed, missing := safeguarding.ConfirmedExcess(excess, accounts)
	if confirmed.Sub(money.TotalOf(out.Minor)).Sign() >= 0 {
		return nil
	}
	c := out.Currency
	details := map[string]any{"currency": string(c), "excess": excess.String(), "confirmedExcess": confirmed.String(),
		"requested": money.TotalOf(out.Minor).String()}
	var f *fault.Error
	if len(missing) > 0 {
		details["unconfirmedAccounts"] = missing
		f = conflict("Excess is not confirmed", "Nothing confirms that %s %s what the ledger says in %s, so nothing of the excess of %s %s can "+
			"be taken out. "+
			"Import the statement of %s, or of today, of each of them; its closing balance must not be below the ledger.",
			strings.Join(missing, ", "), holdOf(len(missing)), c, excess.Major(c), c, day)
	} else {
		f = conflict("Excess is not confirmed", "Of the excess of %s %s, %s %s are confirmed, and %s %s are requested: the rest was posted by "+
			"hand, and no bank has confirmed it yet. "+
			"Move at most %s %s, or import the statement of the day on which the rest was posted.",
			excess.Major(c), c, confirmed.Major(c), c, money.TotalOf(out.Minor).Major(c), c, confirmed.Major(c), c)
	}
	f.Details = details
	return f
}

func holdOf(accounts int) string {
	if accounts == 1 {
		return "holds"
	}
	return "hold"
}

// CheckOverdraft returns CONFLICT if an asset would go below zero, or further below. before and after are its
// balances.
func CheckOverdraft(a ledger.Account, before, after int64, allowed bool) error {
	if after >= 0 || after >= before || allowed {
		return nil
	}
	f := conflict("Account would be overdrawn", "%s holds %s %s and would have %s %s. Move less, or set allowOverdraft with a note that "+
		"says why.",
		a.Path, money.TotalOf(before).Major(a.Currency), a.Currency, money.TotalOf(after).Major(a.Currency), a.Currency)
	f.Details = map[string]any{"account": a.Path, "currency": string(a.Currency), "balance": money.TotalOf(before).String(),
		"balanceAfter": money.TotalOf(after).String()}
	return f
}

// CheckArrival returns a fault if a movement cannot arrive at a time: CONFLICT if it is not on its way, or
// INVALID_INPUT.
func (m Movement) CheckArrival(effective, now time.Time) error {
	switch {
	case !m.InTransit:
		return conflict("Not in transit", "The movement arrived when it was posted.")
	case m.Arrival != nil:
		return conflict("Already arrived", "The transfer arrived on %s.", m.Arrival.Effective.Format(time.DateOnly))
	case effective.After(now):
		return fault.Invalid(fault.Field{Field: "effectiveAt", Message: "must not be in the future"})
	case effective.Before(m.Effective):
		return fault.Invalid(fault.Field{Field: "effectiveAt", Message: "must not be before the transfer was sent"})
	}
	return nil
}

// MoneyOfCustomers returns the CONFLICT for an account that cannot become the company's own.
func MoneyOfCustomers(a ledger.Account, balance, excess money.Total) error {
	f := conflict("Holds customers' money", "%s holds %s %s, and the accounts with customers' money hold %s %s more than is owed. Move the "+
		"money of customers to another account first.",
		a.Path, balance.Major(a.Currency), a.Currency, excess.Major(a.Currency), a.Currency)
	f.Details = map[string]any{"account": a.Path, "currency": string(a.Currency), "balance": balance.String(), "excess": excess.String()}
	return f
}

func conflict(reason, format string, args ...any) *fault.Error {
	f := fault.New(fault.Conflict, format, args...)
	f.Reason = reason
	return f
}
