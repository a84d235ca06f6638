package bankfile

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"causeway/core/bankorder"
	"causeway/core/formats/iso20022"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports"
)

// maxStatement is the largest statement that is reconciled: as of one that is uploaded.
const maxStatement = 64 << 20

// Transaction codes of ISO 20022, and those of SWIFT and of German banks in proprietary codes.
var (
	returnCodes = []string{"RRTN", "RPCR", "ARET"}
	chargeCodes = []string{"CHRG", "COMM", "COMI", "COME", "COMT", "FEES"}
	// debitsIssued is the family of direct debits that we collect, which are no receipts: their orders settle by themselves.
	debitsIssued = "IDDT"
)

// isReturn reports whether a payment is one that came back, or one that is taken back.
func isReturn(e iso20022.Entry, pay iso20022.Payment) bool {
	code := pay.TransactionCode
	return pay.Return != nil || e.Reversal || slices.Contains(returnCodes, code.SubFamily) || strings.HasPrefix(code.Proprietary, "NRTI")
}

func isCharge(code iso20022.TransactionCode) bool {
	return slices.Contains(chargeCodes, code.SubFamily) || strings.HasPrefix(code.Proprietary, "NCHG")
}

// isOurAccount reports whether a report is about the account of the connection. Banks write the number of an account with
// an IBAN too, which ends with it, and one without its leading zeros.
func (a *Adapter) isOurAccount(account iso20022.Account) bool {
	theirs := strings.ToUpper(strings.ReplaceAll(account.ID(), " ", ""))
	for _, ours := range []string{a.settings.iban, a.settings.accountNumber} {
		long, short := strings.ToUpper(strings.ReplaceAll(ours, " ", "")), strings.TrimLeft(theirs, "0")
		if len(long) < len(theirs) {
			long, short = theirs, strings.TrimLeft(long, "0")
		}
		if len(short) >= minAccount && strings.HasSuffix(long, short) {
			return true
		}
	}
	return theirs == "" // a bank that serves one account
}

// minAccount is the shortest number of an account.
const minAccount = 4

// takeReport passes on a statement as a file, to be reconciled, and says so if a report is about another account.
func (p *piece) takeReport(ctx context.Context, report iso20022.Report) error {
	place := fmt.Sprintf("report %s", cmp.Or(report.ID, report.MessageID))
	if !p.a.isOurAccount(report.Account) {
		return p.notice(ctx, bankorder.OtherAccount, place, report.Account.ID(), "", "it is about another account: make a connection for it, "+
			"or ask the bank to leave it out")
	}
	if report.Kind != iso20022.Statement || p.r.statement {
		return nil
	}
	return p.takeStatement(ctx, place, "CAMT053")
}

// takeStatement passes the file on as a statement, once.
func (p *piece) takeStatement(ctx context.Context, place string, format string) error {
	if p.r.copied > maxStatement {
		return p.notice(ctx, bankorder.UnreadableFile, place, p.r.file.Name, "", fmt.Sprintf("a statement with more than %d MB is not "+
			"reconciled: reconcile it in parts", maxStatement>>20))
	}
	data, err := io.ReadAll(p.r.content())
	if err != nil {
		return err
	}
	s := ports.RailStatement{Name: p.r.file.Name, Format: format, Data: data}
	for _, it := range p.r.balances {
		s.Balances = append(s.Balances, p.a.closingBalance(*it.report, *it.balance)...)
	}
	p.report.Statements = append(p.report.Statements, s)
	p.r.statement = true
	return nil
}

// takeBalance passes on a balance of a statement that is not reconciled because it is too large: nothing refuses it.
func (p *piece) takeBalance(report iso20022.Report, b iso20022.Balance) {
	if p.r.copied > maxStatement {
		p.report.Balances = append(p.report.Balances, p.a.closingBalance(report, b)...)
	}
}

// closingBalance returns what was on the account at the end of a day, if a balance is that.
func (a *Adapter) closingBalance(report iso20022.Report, b iso20022.Balance) []ports.RailBalance {
	if b.Type != "CLBD" || !a.isOurAccount(report.Account) || !slices.Contains(a.connection.Currencies, b.Amount.Currency) {
		return nil
	}
	at := b.At
	if !b.HasTime {
		at = a.endOf(b.At)
	}
	return []ports.RailBalance{{Amount: b.Amount, At: at}}
}

// dayOf returns the beginning of a day where the bank is, and endOf its last second. Dates are at midnight UTC.
func (a *Adapter) dayOf(date time.Time) time.Time {
	return time.Date(date.Year(), date.Month(), date.Day(), 0, 0, 0, 0, a.settings.zone).UTC()
}

func (a *Adapter) endOf(date time.Time) time.Time {
	return a.dayOf(date.AddDate(0, 0, 1)).Add(-time.Second)
}

// takePayment passes on what a payment on the account is: one of ours, money received or taken back, or a charge. Other
// debits are for the reconciliation of the statement.
func (p *piece) takePayment(ctx context.Context, report iso20022.Report, e iso20022.Entry, pay iso20022.Payment, place string) error {
	wanted := iso20022.Notification
	if p.a.settings.movements == fromStatements {
		wanted = iso20022.Statement
	}
	if report.Kind != wanted || e.Status != "BOOK" || pay.Amount.Minor == 0 || !p.a.isOurAccount(report.Account) {
		return nil
	}
	if e.Details != (money.Amount{}) {
		if err := p.contradictDetails(ctx, e, pay, place); err != nil {
			return err
		}
	}
	if !slices.Contains(p.a.connection.Currencies, pay.Amount.Currency) {
		if e.Credit { // the feed keeps it aside until the connection carries the currency
			p.report.Receipts = append(p.report.Receipts, p.receiptOf(e, pay, p.bookedAt(report, e)))
		}
		return p.notice(ctx, bankorder.OtherCurrency, place, pay.PartnerID, string(pay.Amount.Currency),
			"the connection does not carry the currency: let it, or ask the bank not to book it on this account")
	}
	at := p.bookedAt(report, e)
	order := orderID(pay.References.EndToEndID, pay.References.InstructionID)
	switch {
	case isCharge(pay.TransactionCode):
		p.addFee(e, pay.PartnerID, pay.Amount, e.Credit, at, clean(cmp.Or(pay.Remittance, pay.Text, e.Text)))
	case e.Credit && isReturn(e, pay):
		r := bankorder.Report{State: bankorder.Returned, PartnerID: pay.PartnerID, At: at, Amount: pay.Amount, Booked: true,
			Charges: sumOf(chargesOf(e, pay), pay.Amount.Currency)}
		if pay.Return != nil {
			r.Code, r.Text = pay.Return.Code, pay.Return.Text
		}
		p.reports = append(p.reports, OrderReport{EndToEndID: order, Place: place, Report: r})
		p.instead[place] = p.receiptOf(e, pay, at)
	case e.Credit && pay.TransactionCode.Family == debitsIssued:
	case e.Credit:
		p.named = append(p.named, Receipt{PartnerID: pay.PartnerID, Names: namesOf(pay)})
		p.report.Receipts = append(p.report.Receipts, p.receiptOf(e, pay, at))
	case isReturn(e, pay):
		return p.takeReversal(ctx, pay, place, at)
	case len(p.a.settings.settledBy(settlesOnBooking)) > 0:
		return p.takeDebit(ctx, e, pay, order, place, at)
	case isOurs(order):
		p.addCharges(e, pay, order, at)
	}
	return nil
}

// contradictDetails says that the payments of an entry do not add up to it. What was booked counts.
func (p *piece) contradictDetails(ctx context.Context, e iso20022.Entry, pay iso20022.Payment, place string) error {
	c := rail.Contradiction{Name: pay.PartnerID, Recorded: rail.Said{State: "ENTRY", Amount: e.Amount, PartnerID: e.PartnerID},
		Reported: rail.Said{State: "DETAILS", Amount: e.Details, PartnerID: pay.PartnerID},
		Problem: fmt.Sprintf("an entry of %s has payments that add up to %s: %s was booked; ask the bank which payments it is of", e.Amount,
			e.Details, e.Amount)}
	return p.contradict(ctx, c, place)
}

// sumOf returns the sum of charges; zero if there are none.
func sumOf(charges []money.Amount, currency money.Currency) money.Amount {
	sum := money.Amount{Currency: currency}
	for _, c := range charges {
		if more, err := sum.Add(c); err == nil { // one that does not count has no currency
			sum = more
		}
	}
	return sum
}

// takeDebit settles what has left the account: a payment of ours, or a whole file that the bank has booked in one sum.
func (p *piece) takeDebit(ctx context.Context, e iso20022.Entry, pay iso20022.Payment, order, place string, at time.Time) error {
	settled := bankorder.Report{State: bankorder.Settled, Settles: p.a.settings.settledBy(settlesOnBooking), PartnerID: pay.PartnerID, At: at,
		Amount: withoutCharges(e, pay), Booked: true}
	message := cmp.Or(pay.References.MessageID, pay.References.BlockID)
	if e.Undivided > 1 && order == "" && message != "" {
		settled.PartnerID = "" // it is that of all together
		return p.takeFileDebit(ctx, e, pay, message, place, settled)
	}
	if isOurs(order) {
		p.reports = append(p.reports, OrderReport{EndToEndID: order, Place: place, Report: settled})
		p.addCharges(e, pay, order, at)
	}
	return nil
}

// takeFileDebit settles a whole file. A sum that is not that of a file of ours is left to operators, and a debit of
// another program to the reconciliation.
func (p *piece) takeFileDebit(ctx context.Context, e iso20022.Entry, pay iso20022.Payment, message, place string,
	settled bankorder.Report) error {
	if err := p.apply(ctx); err != nil {
		return err
	}
	for {
		changed, problem, err := p.a.store.ReportFile(ctx, p.lease, p.r.file.Number, message, settled, p.a.clock.Now(), fileOrders)
		switch {
		case err != nil || problem == bankorder.UnknownPayment:
			return err
		case problem != "":
			return p.notice(ctx, problem, place, message, "", fmt.Sprintf("the bank has booked %s for a file of another sum: ask it which "+
				"payments it has made", settled.Amount))
		case changed < fileOrders:
			p.addCharges(e, pay, message, settled.At)
			return nil
		}
	}
}

// bookedAt returns when an entry was booked. A bank that writes only a date has booked it on that day before it wrote the report.
func (p *piece) bookedAt(report iso20022.Report, e iso20022.Entry) time.Time {
	day := e.Booked
	if day.IsZero() {
		day = e.Value
	}
	at := report.CreatedAt
	if at.IsZero() {
		at = p.r.file.FoundAt
	}
	switch {
	case !e.BookedAt.IsZero():
		return e.BookedAt
	case day.IsZero():
		return at
	case at.Before(p.a.dayOf(day)):
		return p.a.dayOf(day)
	case at.After(p.a.endOf(day)):
		return p.a.endOf(day)
	}
	return at
}

// chargesOf returns what the bank has taken with a payment: of debits, below zero if it was given back. Charges that are not
// included are entries of their own.
func chargesOf(e iso20022.Entry, pay iso20022.Payment) []money.Amount {
	charges := pay.Charges
	if len(e.Payments) == 1 {
		charges = slices.Concat(charges, e.Charges)
	}
	amounts := make([]money.Amount, len(charges)) // zero for those that do not count, so that the others keep their numbers
	for i, c := range charges {
		switch {
		case !c.Included || c.Amount.Currency != pay.Amount.Currency:
		case c.Credit:
			amounts[i] = money.Amount{Minor: -c.Amount.Minor, Currency: c.Amount.Currency}
		default:
			amounts[i] = c.Amount
		}
	}
	return amounts
}

// addCharges adds what the bank has taken with payments of ours.
func (p *piece) addCharges(e iso20022.Entry, pay iso20022.Payment, memo string, at time.Time) {
	for i, charge := range chargesOf(e, pay) {
		p.addFee(e, fmt.Sprintf("%s/charge/%d", pay.PartnerID, i+1), charge, false, at, memo)
	}
}

// withoutCharges returns what of a debit is for the beneficiaries.
func withoutCharges(e iso20022.Entry, pay iso20022.Payment) money.Amount {
	amount := pay.Amount
	for _, charge := range chargesOf(e, pay) {
		if rest, err := amount.Sub(charge); err == nil { // one that does not count has no currency
			amount = rest
		}
	}
	return amount
}

func (p *piece) addFee(e iso20022.Entry, partnerID string, amount money.Amount, givenBack bool, at time.Time, memo string) {
	if givenBack {
		amount.Minor = -amount.Minor
	}
	if amount.Minor != 0 {
		p.report.Fees = append(p.report.Fees, ports.RailFee{Rail: p.a.settings.receiptRail, PartnerID: partnerID, Amount: amount, At: at,
			Memo: memo, Undated: e.BookedAt.IsZero()})
	}
}
