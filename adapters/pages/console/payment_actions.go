package console

import (
	"context"
	"slices"
	"strings"

	"causeway/app/accounting"
	"causeway/app/payments"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

// PaymentActions are the use cases that move a payment on.
type PaymentActions interface {
	Approve(ctx context.Context, p ident.Platform, id ident.Transaction, receiver map[string]string,
		request *ports.IdempotentRequest) (transaction.Transaction, error)
	Reject(ctx context.Context, p ident.Platform, id ident.Transaction, reason string,
		request *ports.IdempotentRequest) (transaction.Transaction, error)
	SimulatePayment(ctx context.Context, p ident.Platform, in payments.SendRequest,
		request *ports.IdempotentRequest) (transaction.Transaction, error)
	ExpireQuote(ctx context.Context, p ident.Platform, id ident.Quote, request *ports.IdempotentRequest) (quote.WithStatus, error)
	SettleNow(ctx context.Context, p ident.Platform, id ident.Transaction, request *ports.IdempotentRequest) (transaction.Transaction, error)
	ReturnNow(ctx context.Context, p ident.Platform, id ident.Transaction, request *ports.IdempotentRequest) (transaction.Transaction, error)
	CancelTransaction(ctx context.Context, p ident.Platform, id ident.Transaction, reason string,
		request *ports.IdempotentRequest) (transaction.Transaction, error)
	TakeBackNow(ctx context.Context, p ident.Platform, id ident.Transaction, request *ports.IdempotentRequest) (transaction.Transaction, error)
}

// paymentAction is something that is done to a payment. The use case decides whether it can be done.
type paymentAction struct {
	path, title, does string
	right             person.Right
	kind              platform.OperatorActionKind
	// isSandbox: only on a sandbox platform, which moves no money. Others take a code.
	isSandbox bool
	// offered reports whether the page of a payment has a button for it.
	offered func(t transaction.Transaction) bool
	fields  func(t transaction.Transaction) []field
	do      func(c *Console, r *request, t transaction.Transaction) error
}

func waitsForApproval(t transaction.Transaction) bool {
	if t.Type != transaction.Incoming {
		return false
	}
	state := t.IncomingState()
	return state == transaction.ApprovalRequested || state == transaction.ApprovalPending
}

func waitsForMoney(t transaction.Transaction) bool {
	return t.Type == transaction.Outgoing && t.State.Status == transaction.Pending && t.Reference != ""
}

var paymentActions = []paymentAction{
	{"approve", "Approve", "The payment is credited to the customer. What the sending side asks about the receiver is sent to it.",
		person.Review, platform.PersonApprovedPayment, false, waitsForApproval, receiverFields,
		func(c *Console, r *request, t transaction.Transaction) error {
			receiver := map[string]string{}
			for _, f := range receiverFields(t) {
				if value := r.PostFormValue(f.Name); value != "" {
					receiver[strings.TrimPrefix(f.Name, infoPrefix)] = value
				}
			}
			_, err := c.PaymentActions.Approve(r.Context(), r.platform.ID, t.ID, receiver, nil)
			return err
		}},
	{"reject", "Reject", "The payment is not credited, and the money goes back to the sender.", person.Review,
		platform.PersonRejectedPayment, false, waitsForApproval, func(transaction.Transaction) []field { return []field{noteField} },
		func(c *Console, r *request, t transaction.Transaction) error {
			_, err := c.PaymentActions.Reject(r.Context(), r.platform.ID, t.ID, r.PostFormValue("note"), nil)
			return err
		}},
	{"cancel", "Cancel", "The payment is stopped, if it has not left, and what was paid for it is refunded in full, fees included. That " +
		"cannot be undone. One that has left is refused.", person.DecidePayments, platform.PersonCancelledPayment, false, isCancellable,
		func(transaction.Transaction) []field { return []field{noteField} },
		func(c *Console, r *request, t transaction.Transaction) error {
			_, err := c.PaymentActions.CancelTransaction(r.Context(), r.platform.ID, t.ID, r.PostFormValue("note"), nil)
			return err
		}},
	{"pay-in", "Pay in", "The simulated bank says that money with the reference of this payment has come in. With the amount of the " +
		"quote the " +
		"payment goes on; with another one it fails and is refunded.", person.Assist, platform.PersonSimulatedPayment, true,
		waitsForMoney, payInFields,
		func(c *Console, r *request, t transaction.Transaction) error {
			currency := t.Pricing.Sent.Currency
			var problems []fault.Field
			minor := readAmount(formText(r, "amount"), currency, "The amount", func(string, ...any) {
				problems = []fault.Field{{Field: "amount", Message: "must be an amount in " + string(currency) + ", such as 100"}}
			})
			if len(problems) > 0 {
				return fault.Invalid(problems...)
			}
			_, err := c.PaymentActions.SimulatePayment(r.Context(), r.platform.ID, payments.SendRequest{Reference: t.Reference,
				Currency: currency, Amount: &minor}, nil)
			return err
		}},
	{"expire", "Expire the quote", "The quote ends as if its time were over. Money that comes in for it later is refunded. That cannot be " +
		"undone.", person.Assist, platform.PersonSimulatedPayment, true, waitsForExecution, noFields,
		func(c *Console, r *request, t transaction.Transaction) error {
			_, err := c.PaymentActions.ExpireQuote(r.Context(), r.platform.ID, t.Quote, nil)
			return err
		}},
	{"settle", "Settle now", "The simulated partner answers at once what it would answer after all its delays.", person.Assist,
		platform.PersonSimulatedPayment, true, waitsForPartner, noFields,
		func(c *Console, r *request, t transaction.Transaction) error {
			_, err := c.PaymentActions.SettleNow(r.Context(), r.platform.ID, t.ID, nil)
			return err
		}},
	{"return", "Return", "The bank of the beneficiary returns the payout, as one does after days. The customer is refunded.", person.Assist,
		platform.PersonSimulatedPayment, true, isReturnable, noFields, func(c *Console, r *request, t transaction.Transaction) error {
			_, err := c.PaymentActions.ReturnNow(r.Context(), r.platform.ID, t.ID, nil)
			return err
		}},
	{"take-back", "Take the collection back", "The bank of the payer takes back what was collected, as one does after days. The customer " +
		"owes it.", person.Assist, platform.PersonSimulatedPayment, true, isRecallable, noFields,
		func(c *Console, r *request, t transaction.Transaction) error {
			_, err := c.PaymentActions.TakeBackNow(r.Context(), r.platform.ID, t.ID, nil)
			return err
		}},
}

func waitsForPartner(t transaction.Transaction) bool {
	isOpen := t.State.Status == transaction.Pending || t.State.Status == transaction.Processing
	return t.State.Refund == transaction.RefundPending || isOpen && !waitsForMoney(t) && !waitsForApproval(t)
}

// isCancellable reports whether a bank carries the payment, which may have left by now.
func isCancellable(t transaction.Transaction) bool {
	_, err := t.Cancellable()
	return err == nil
}

func waitsForExecution(t transaction.Transaction) bool {
	return t.Type == transaction.Outgoing && t.State.Status == transaction.Pending && !t.Quote.IsZero()
}

func noFields(transaction.Transaction) []field { return nil }

// isReturnable reports whether a bank has the payout.
func isReturnable(t transaction.Transaction) bool {
	return slices.Contains(t.RailSteps(), transaction.StepCheckReturn)
}

// isRecallable reports whether a bank may take back what was collected for the payment.
func isRecallable(t transaction.Transaction) bool { return t.HasCollected() && t.State.IsFinal() }

// infoPrefix begins the names of fields about the receiver.
const infoPrefix = "info-"

func receiverFields(t transaction.Transaction) []field {
	var fields []field
	if t.Approval == nil {
		return fields
	}
	for _, f := range t.Approval.Requested {
		hint := "The sending side asks for it."
		if f.Mandatory {
			hint = "The sending side requires it."
		}
		fields = append(fields, field{Name: infoPrefix + f.Name, Label: capital(lower(f.Name)), Hint: hint})
	}
	return fields
}

func payInFields(t transaction.Transaction) []field {
	return []field{{Name: "amount", Label: "Amount in " + string(t.Pricing.Sent.Currency), Value: major(t.Pricing.Sent)}}
}

func (c *Console) paymentRoutes() []platformRoute {
	var routes []platformRoute
	for _, a := range paymentActions {
		routes = append(routes, c.actionRoutes("/payments/{transaction}/"+a.path, a.right,
			func(r *request) (action, error) { return c.paymentAction(r, a) })...)
	}
	return append(routes, c.actionRoutes("/payments/{transaction}/redeliver", person.Assist, c.redeliverOfPayment)...)
}

func (c *Console) paymentIn(r *request) (accounting.Timeline, error) {
	id, err := idIn(r, "transaction", ident.ParseTransaction)
	if err != nil {
		return accounting.Timeline{}, err
	}
	return c.Accounting.Timeline(r.Context(), r.platform.ID, id)
}

func (c *Console) paymentAction(r *request, a paymentAction) (action, error) {
	if a.isSandbox && r.platform.Environment != platform.Sandbox {
		return action{}, errNotFound
	}
	found, err := c.paymentIn(r)
	if err != nil {
		return action{}, err
	}
	t := found.Transaction
	name := t.ID.String()
	if a.isSandbox {
		name += ", " + a.path
	}
	return action{Title: a.title, Section: "payments", Does: a.does, Facts: actedOn(t), Fields: a.fields(t), NeedsCode: !a.isSandbox,
		Record: platform.OperatorAction{Platform: r.platform.ID, Kind: a.kind, Subject: t.ID.UUID(), Name: name},
		Back:   basePath(r.platform.ID) + "/payments/" + pathOfID(t.ID),
		do:     func(r *request) (string, error) { return "", a.do(c, r, t) }}, nil
}

// actedOn are the facts of a payment on the page of an action: what is moved, from where and to where, without personal data.
func actedOn(t transaction.Transaction) []fact {
	facts := []fact{{Name: "Payment", Value: t.ID.String()}, {Name: "Amount", Value: sent(t).String()}}
	facts = add(facts, "From", endpointText(t.Source, string(t.SourceRail), person.Mask))
	facts = add(facts, "To", endpointText(t.Destination, string(t.DestinationRail), person.Mask))
	return add(facts, "Status", lower(t.State.Status))
}

// actionsOn returns what the person may do to a payment as it is.
func (p page) actionsOn(found accounting.Timeline) (links []fact) {
	t := found.Transaction
	to := p.Base + "/payments/" + pathOfID(t.ID) + "/"
	for _, a := range paymentActions {
		if a.path == "take-back" && isOwed(found) {
			continue
		}
		if (!a.isSandbox || p.IsSandbox()) && a.offered(t) && p.Person.May(a.right, p.Platform.ID) {
			links = append(links, actionLink(a.title, to+a.path))
		}
	}
	if len(deliveriesIn(found)) > 0 && p.Person.May(person.Assist, p.Platform.ID) {
		links = append(links, actionLink("Send the webhooks again", to+"redeliver"))
	}
	return links
}

// isOwed reports whether the collection of a payment was taken back before.
func isOwed(found accounting.Timeline) bool {
	return slices.ContainsFunc(found.Events, func(e accounting.TimelineEvent) bool { return e.Type == accounting.TimelineReceivable })
}

// deliveriesIn are the webhooks about a payment, in their order.
func deliveriesIn(found accounting.Timeline) (ids []ident.Webhook) {
	for _, e := range found.Events {
		if e.Type == accounting.TimelineWebhookEvent {
			ids = append(ids, e.Delivery.ID)
		}
	}
	return ids
}

// redeliverOfPayment sends all webhooks about a payment again.
func (c *Console) redeliverOfPayment(r *request) (action, error) {
	found, err := c.paymentIn(r)
	if err != nil {
		return action{}, err
	}
	ids := deliveriesIn(found)
	return action{Title: "Send the webhooks again", Section: "payments", Does: "All webhooks about the payment are sent again to the " +
		"endpoint, in their order and with the same ids, for another seven days. No money moves. An endpoint that has accepted them before " +
		"must take them as repeats.", Facts: add(actedOn(found.Transaction), "Webhooks", itoa(len(ids))),
		Record: platform.OperatorAction{Platform: r.platform.ID, Kind: platform.PersonSentWebhooks, Subject: found.Transaction.ID.UUID(),
			Name: found.Transaction.ID.String()},
		Back: basePath(r.platform.ID) + "/payments/" + pathOfID(found.Transaction.ID),
		do: func(r *request) (string, error) {
			if len(ids) == 0 {
				return "", nil
			}
			_, err := c.Webhooks.Redeliver(r.Context(), r.platform.ID, ports.Redelivery{IDs: ids})
			return "", err
		}}, nil
}

// addConnections adds what connections say about a payment, and what the person may decide there, which needs rights on all platforms.
func (c *Console) addConnections(r *request, data *paymentPage) error {
	if data.IsSandbox() || !data.Person.May(person.ViewConnections, ident.Platform{}) {
		return nil
	}
	id := data.Transaction.ID.UUID()
	found, err := c.Rails.Payments(ports.ForAllPlatforms(r.Context()), id)
	if f, isFault := fault.As(err); isFault && f.Code == fault.InvalidInput {
		return nil // no connection carries it
	}
	if err != nil {
		return err
	}
	sections, actions := data.railSections(id, found, shown(data.IsRevealed))
	for i := range sections {
		sections[i].Heading = "Connection: " + sections[i].Heading
	}
	isCancel := func(a fact) bool { return a.Name == "Cancel" }
	if slices.ContainsFunc(actions, isCancel) { // which leads to the same
		data.Actions = slices.DeleteFunc(data.Actions, isCancel)
	}
	data.Sections, data.Actions = append(data.Sections, sections...), append(data.Actions, actions...)
	return nil
}

// addStoppedJobs adds the jobs about a payment that have stopped, which may be retried.
func (c *Console) addStoppedJobs(r *request, data *paymentPage) error {
	if !data.MayViewConnections() {
		return nil
	}
	stopped, err := c.Jobs.List(r.Context(), ports.JobFilter{Platform: r.platform.ID, State: ports.JobDead,
		Subject: data.Transaction.ID.UUID(), Limit: maxJobs})
	if err != nil || len(stopped) == 0 {
		return err
	}
	rows := table{Label: "Jobs that have stopped", Columns: columns("Failed", "Step", ">Attempts", "Last error", "Do")}
	for _, j := range stopped {
		row := []cell{timed(j.FailedAt), plain(string(j.Step)), amountCell(itoa(j.Attempts)), plain(j.LastError), {}}
		if data.Person.May(person.Operate, r.platform.ID) {
			row[4] = linked("Retry", data.Base+"/jobs/"+j.ID.String()+"/retry")
		}
		rows.Rows = append(rows.Rows, row)
	}
	data.Sections = append(data.Sections, section{Heading: "Stopped", Text: "The payment goes on when these jobs are retried.", Table: &rows})
	return nil
}

// addActivity adds what people have done to the payment, and who has seen its personal data.
func (c *Console) addActivity(r *request, data *paymentPage) error {
	if !data.Person.May(person.ViewAudit, r.platform.ID) {
		return nil
	}
	id := data.Transaction.ID
	found, more, err := c.Activity.List(r.Context(), ports.ActivityFilter{Platform: r.platform.ID, SubjectID: id.UUID(), Limit: pageSize})
	if err != nil {
		return err
	}
	s := section{Heading: "Who did what", Table: data.activityTable(found)}
	s.Table.Empty = "Nobody has decided anything about the payment, or seen its personal data."
	if more {
		s.Facts = add(nil, "Older", "in the audit", data.Base+"/audit?object="+id.UUID().String())
	}
	data.Sections = append(data.Sections, s)
	return nil
}
