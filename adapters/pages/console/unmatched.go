package console

import (
	"net/http"
	"slices"
	"strings"

	"causeway/app/accounting"
	"causeway/app/accounts"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/ports"
)

func (c *Console) unmatchedRoutes() []platformRoute {
	return append([]platformRoute{
		{http.MethodGet, "/unmatched", person.View, c.list(c.showUnmatchedFunds)},
		{http.MethodGet, "/unmatched/{receipt}", person.View, c.showUnmatched},
		{http.MethodPost, "/unmatched/{receipt}", person.ViewPersonalData, c.revealUnmatched},
	}, c.actionRoutes("/unmatched/{receipt}/assign", person.KeepBooks, c.assignUnmatched)...)
}

// The states of the list of unmatched funds.
const fundsWait, fundsAssigned, fundsAll = "waiting", "assigned", "all"

func (c *Console) showUnmatchedFunds(r *request) error {
	state := r.URL.Query().Get("state")
	if state == "" {
		state = fundsWait
	}
	if !slices.Contains([]string{fundsWait, fundsAssigned, fundsAll}, state) {
		return errNotFound
	}
	f := ports.UnmatchedFilter{Limit: r.pageSize(), After: after(r.URL.Query())}
	if state != fundsAll {
		f.Assigned = new(state == fundsAssigned)
	}
	found, err := c.Accounting.Unmatched(r.Context(), r.platform.ID, f)
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Unmatched funds", "unmatched"), Intro: "Money whose owner is not known, or that could not be refunded. It " +
		"rests until it is assigned: to an account, to a payment that waits for it, or back to its payer."}
	v.Filter = &filter{v.Base + "/unmatched", []field{{Name: "state", Label: "State", Kind: "select", Value: state,
		Options: []option{{fundsWait, "waits"}, {fundsAssigned, "assigned"}, {fundsAll, "all"}}}}}
	rows := table{File: "unmatched-funds", Label: "Unmatched funds",
		Columns: columns("Since", "Receipt", "State", ">Amount", "Currency", "Why", "Reference",
			"Payment"), Empty: "There is no such money."}
	for _, u := range found.Items {
		row := []cell{timed(u.Since), shortID(u.Receipt.ID.String(), unmatchedPath(v.Base, u.Receipt.ID)), stated(fundsState(u)),
			amountCell(major(u.Receipt.Amount)), plain(string(u.Receipt.Amount.Currency)), plain(whyUnmatched(u)),
			plain(person.Mask(u.Receipt.Reference)), {}}
		if !u.RefundOf.IsZero() {
			row[7] = shortID(u.RefundOf.String(), v.Base+"/payments/"+pathOfID(u.RefundOf))
		}
		rows.Rows = append(rows.Rows, row)
	}
	v.Sections = []section{{Table: &rows}}
	v.Older = older(r, found.More, found.Items, func(u transaction.Unmatched) string { return u.Posting.String() })
	return c.show(r, v)
}

func unmatchedPath(base string, id ident.Receipt) string { return base + "/unmatched/" + pathOfID(id) }

func fundsState(u transaction.Unmatched) string {
	if u.Assignment == nil {
		return "WAITING"
	}
	return "ASSIGNED"
}

func whyUnmatched(u transaction.Unmatched) string {
	switch {
	case !u.RefundOf.IsZero():
		return "the refund of a payment failed"
	case u.IsFailedRefund():
		return "it could not be sent back"
	}
	return "its owner is not known, or the account did not take it"
}

func (c *Console) unmatchedIn(r *request) (accounting.UnmatchedDetails, error) {
	id, err := idIn(r, "receipt", ident.ParseReceipt)
	if err != nil {
		return accounting.UnmatchedDetails{}, err
	}
	return c.Accounting.UnmatchedOf(r.Context(), r.platform.ID, id)
}

// unmatchedFacts says what the money is, why it rests, and what was decided. What its payer and the partner wrote may name people.
func unmatchedFacts(u accounting.UnmatchedDetails, base string, show func(string) string) []fact {
	facts := add(nil, "Receipt", u.Receipt.ID.String())
	facts = add(facts, "Amount", u.Receipt.Amount.String())
	facts = add(facts, "Why", whyUnmatched(u.Unmatched))
	if !u.RefundOf.IsZero() {
		facts = add(facts, "Payment", u.RefundOf.String(), base+"/payments/"+pathOfID(u.RefundOf))
	}
	facts = add(facts, "Came from", u.SourceAccount)
	facts = add(facts, "Reference", show(u.Receipt.Reference))
	facts = add(facts, "Partner's id", u.Receipt.PartnerID)
	facts = add(facts, "Unmatched since", moment(u.Since), base+"/postings/"+u.Posting.String())
	for _, reply := range u.Refund {
		facts = add(facts, "Answer to the refund", strings.TrimSpace(moment(reply.At)+": "+string(reply.Verdict)+" "+reply.Code))
	}
	if u.SaidPaid {
		facts = add(facts, "The partner says since", "the refund was paid: ask it where the money is")
	}
	a := u.Assignment
	if a == nil {
		return facts
	}
	switch {
	case !a.Account.IsZero():
		facts = add(facts, "Assigned to", "account "+a.Account.String()+", as a payment", base+"/payments/"+pathOfID(a.Transaction))
	case !a.Transaction.IsZero():
		facts = add(facts, "Assigned to", a.Transaction.String(), base+"/payments/"+pathOfID(a.Transaction))
	default:
		facts = add(facts, "Assigned to", "its payer")
	}
	facts = addActor(facts, "Assigned", moment(a.At)+" by ", by(a.By, a.Approval))
	facts = add(facts, "Note", noteOf(a.Note, a.By, show))
	return add(facts, "Sent back", moment(u.SentBackAt), base+"/postings/"+u.Paid.String())
}

func (c *Console) showUnmatched(r *request) error { return c.unmatchedWith(r, false) }

// revealUnmatched shows unmatched money with what its payer and the partner wrote, and is recorded first.
func (c *Console) revealUnmatched(r *request) error { return c.unmatchedWith(r, true) }

func (c *Console) unmatchedWith(r *request, revealed bool) error {
	u, err := c.unmatchedIn(r)
	if err != nil {
		return err
	}
	if id := u.Receipt.ID; revealed {
		if err := c.People.RecordViewed(r.Context(), r.in.Person, r.platform.ID, id.UUID(), id.String()); err != nil {
			return err
		}
	}
	v := view{page: c.page(r, "Unmatched funds of "+u.Receipt.Amount.String(), "unmatched"), State: fundsState(u.Unmatched)}
	v.Facts, v.IsPersonal, v.IsRevealed = unmatchedFacts(u, v.Base, shown(revealed)), true, revealed
	if u.Assignment == nil && v.Person.May(person.KeepBooks, r.platform.ID) {
		v.Actions = []fact{actionLink("Assign", unmatchedPath(v.Base, u.Receipt.ID)+"/assign")}
	}
	if len(u.Replies) > 0 {
		v.Sections = []section{{Heading: "Sent back", Table: repliesTable(u.Replies)}}
	}
	return c.show(r, v)
}

// repliesTable lists what rails have said about sending money back, without the words of partners.
func repliesTable(replies []ports.RailReply) *table {
	t := &table{Label: "Replies of the rail", Columns: columns("Time", "Answer", "Reason", "Partner's id", "Code")}
	for _, reply := range replies {
		t.Rows = append(t.Rows, []cell{timed(reply.At), stated(reply.Verdict), plain(string(reply.Reason)), plain(reply.PartnerID),
			plain(reply.Code)})
	}
	return t
}

// payerOption and otherOption are what money is assigned to that is no account of the list.
const payerOption, otherOption = "PAYER", ""

func (c *Console) assignUnmatched(r *request) (action, error) {
	u, err := c.unmatchedIn(r)
	if err != nil {
		return action{}, err
	}
	base, name := basePath(r.platform.ID), u.Receipt.ID.String()+", "+u.Receipt.Amount.String()
	to, err := c.accountsFor(r, u)
	if err != nil {
		return action{}, err
	}
	title, does := "Assign the money", "The money leaves the unmatched funds, once. Sent to its payer, it goes back by the rail that it came "+
		"by, as a new payment; if that is refused, it is unmatched again. Credited to an account, it is a completed deposit, from which it can "+
		"be paid to another bank account. A payment that waits for exactly this amount goes on. If the books need a second person for it, it "+
		"is proposed and waits for an approval. It cannot be undone."
	if !u.RefundOf.IsZero() {
		title = "Refund again"
	}
	return action{Title: title, Section: "unmatched", Does: does, Facts: unmatchedFacts(u, base, person.Mask), NeedsCode: true,
		Fields: []field{{Name: "target", Label: "To", Kind: "select", Options: to, Value: to[0].Value},
			{Name: "other", Label: "Id of the account or payment", Hint: "Such as `InternalAccount:…` or `Transaction:…`, if it is not listed."},
			noteField},
		Record: platform.OperatorAction{Platform: r.platform.ID, Kind: platform.PersonAssignedFunds, Subject: u.Receipt.ID.UUID(), Name: name},
		Back:   unmatchedPath(base, u.Receipt.ID),
		do: func(r *request) (string, error) {
			target := r.PostFormValue("target")
			if target == otherOption {
				target = formText(r, "other")
			}
			command, err := accounting.AssignTo(u.Receipt.ID, target, r.PostFormValue("note"))
			if err != nil {
				return "", err
			}
			author, err := c.author(r)
			if err != nil {
				return "", err
			}
			done, err := c.Accounting.AssignUnmatched(r.Context(), r.platform.ID, author, command, nil)
			return proposed(base, done), err
		}}, nil
}

// accountsFor returns what money may be assigned to: its payer, if it can be sent back, the accounts in its currency of the customer whose
// payment it was for and of the platform, and what the person names.
func (c *Console) accountsFor(r *request, u accounting.UnmatchedDetails) (to []option, err error) {
	if !u.SentBack().IsZero() && !u.SaidPaid {
		to = append(to, option{payerOption, "back to its payer"})
	}
	if !u.RefundOf.IsZero() {
		t, err := c.Accounting.Timeline(r.Context(), r.platform.ID, u.RefundOf)
		if err != nil {
			return nil, err
		}
		if of := t.Transaction.Customer; !of.IsZero() {
			if to, err = c.addAccounts(r, to, accounts.OwnedByCustomers, of, u.Receipt.Amount.Currency, "account of the customer "); err != nil {
				return nil, err
			}
		}
	}
	to, err = c.addAccounts(r, to, accounts.OwnedByPlatform, ident.Customer{}, u.Receipt.Amount.Currency, "own account ")
	return append(to, option{otherOption, "what is named below"}), err
}

func (c *Console) addAccounts(r *request, to []option, owner accounts.Owner, of ident.Customer, in money.Currency, name string) (
	[]option, error) {
	found, err := c.Accounts.ListInternal(r.Context(), r.platform.ID, owner,
		ports.InternalAccountFilter{Paging: ports.Paging{Limit: maxAccounts}, Customer: of, Currency: in})
	for _, a := range found.Items {
		to = append(to, option{a.ID.String(), name + short(a.ID.String()) + ", " + lower(a.Type) + " in " + string(a.Currency)})
	}
	return to, err
}

// addRefund adds where the money of a refund is that failed, and what can be done with it.
func (c *Console) addRefund(r *request, data *paymentPage) error {
	t := data.Transaction
	if t.State.Refund != transaction.RefundUnpaid {
		return nil
	}
	var id ident.Receipt
	id.SetUUID(t.ID.UUID())
	u, err := c.Accounting.UnmatchedOf(r.Context(), r.platform.ID, id)
	if f, ok := fault.As(err); ok && f.Code == fault.NotFound {
		return nil // a receivable took it
	}
	if err != nil {
		return err
	}
	s := section{Heading: "Refund", Text: "The refund failed, and its money rests in the unmatched funds.",
		Facts: unmatchedFacts(u, data.Base, shown(data.IsRevealed))}
	rests := u.Assignment == nil
	if !rests {
		s.Text = "The refund failed, and its money was assigned by hand."
	}
	if len(u.Replies) > 0 {
		s.Table = repliesTable(u.Replies)
	}
	if !rests && u.Assignment.IsSentBack() {
		again, err := c.Accounting.UnmatchedOf(r.Context(), r.platform.ID, u.SentBack())
		if f, ok := fault.As(err); err != nil && (!ok || f.Code != fault.NotFound) {
			return err
		}
		if err == nil && again.IsFailedRefund() {
			u, rests = again, again.Assignment == nil
			s.Text = "The refund failed, was sent again, and failed again."
			s.Facts = add(s.Facts, "Then", fundsState(again.Unmatched), unmatchedPath(data.Base, again.Receipt.ID))
		}
	}
	data.Sections = append(data.Sections, s)
	if rests && data.Person.May(person.KeepBooks, r.platform.ID) {
		data.Actions = append(data.Actions, actionLink("Refund again", unmatchedPath(data.Base, u.Receipt.ID)+"/assign"))
	}
	return nil
}

// waitingFunds is money that nobody has assigned.
func (c *Console) waitingFunds(r *request, base string) ([]waiting, error) {
	n, err := c.Accounting.CountUnmatched(r.Context(), r.platform.ID, maxCounted+1)
	return newWaiting(n, "payment or refund is unmatched", "payments or refunds are unmatched", base+"/unmatched", "Their money rests until "+
		"somebody assigns it."), err
}
