package console

import (
	"context"
	"strings"

	"causeway/app/accounting"
	"causeway/app/payments"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
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
	SettleNow(ctx context.Context, p ident.Platform, id ident.Transaction, request *ports.IdempotentRequest) (transaction.Transaction, error)
	ReturnNow(ctx context.Context, p ident.Platform, id ident.Transaction, request *ports.IdempotentRequest) (transaction.Transaction, error)
	TakeBackNow(ctx context.Context, p ident.Platform, id ident.Transaction, request *ports.IdempotentRequest) (transaction.Transaction, error)
}

// paymentAction is something that is done to a payment. The use case decides whether it can be done.
type paymentAction struct {
	path, title, does string
	right             person.Right
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
		person.Review,
		false, waitsForApproval, receiverFields, func(c *Console, r *request, t transaction.Transaction) error {
			receiver := map[string]string{}
			for _, f := range receiverFields(t) {
				if value := r.PostFormValue(f.Name); value != "" {
					receiver[strings.TrimPrefix(f.Name, infoPrefix)] = value
				}
			}
			_, err := c.PaymentActions.Approve(r.Context(), r.platform.ID, t.ID, receiver, nil)
			return err
		}},
	{"reject", "Reject", "The payment is not credited, and the money goes back to the sender.", person.Review, false, waitsForApproval,
		func(transaction.Transaction) []field { return []field{noteField} },
		func(c *Console, r *request, t transaction.Transaction) error {
			_, err := c.PaymentActions.Reject(r.Context(), r.platform.ID, t.ID, r.PostFormValue("note"), nil)
			return err
		}},
	{"pay-in", "Pay in", "The simulated bank says that money with the reference of this payment has come in. With the amount of the " +
		"quote the " +
		"payment goes on; with another one it fails and is refunded.", person.Assist, true, waitsForMoney, payInFields,
		func(c *Console, r *request, t transaction.Transaction) error {
			currency := t.Pricing.Sent.Currency
			var problems []fault.Field
			minor := readAmount(strings.TrimSpace(r.PostFormValue("amount")), currency, "The amount", func(string, ...any) {
				problems = []fault.Field{{Field: "amount", Message: "must be an amount in " + string(currency) + ", such as 100"}}
			})
			if len(problems) > 0 {
				return fault.Invalid(problems...)
			}
			_, err := c.PaymentActions.SimulatePayment(r.Context(), r.platform.ID, payments.SendRequest{Reference: t.Reference,
				Currency: currency, Amount: &minor}, nil)
			return err
		}},
	{"settle", "Settle now", "The simulated partner answers at once what it would answer after all its delays.", person.Assist, true,
		waitsForPartner, noFields,
		func(c *Console, r *request, t transaction.Transaction) error {
			_, err := c.PaymentActions.SettleNow(r.Context(), r.platform.ID, t.ID, nil)
			return err
		}},
	{"return", "Return", "The bank of the beneficiary returns the payout, as one does after days. The customer is refunded.", person.Assist,
		true,
		isPaidOut, noFields, func(c *Console, r *request, t transaction.Transaction) error {
			_, err := c.PaymentActions.ReturnNow(r.Context(), r.platform.ID, t.ID, nil)
			return err
		}},
	{"take-back", "Take the collection back", "The bank of the payer takes back what was collected, as one does after days. The customer " +
		"owes it.",
		person.Assist, true, isPaidOut, noFields, func(c *Console, r *request, t transaction.Transaction) error {
			_, err := c.PaymentActions.TakeBackNow(r.Context(), r.platform.ID, t.ID, nil)
			return err
		}},
}

func waitsForPartner(t transaction.Transaction) bool {
	isOpen := t.State.Status == transaction.Pending || t.State.Status == transaction.Processing
	return t.State.Refund == transaction.RefundPending || isOpen && !waitsForMoney(t) && !waitsForApproval(t)
}

func noFields(transaction.Transaction) []field { return nil }

func isPaidOut(t transaction.Transaction) bool {
	return t.Type == transaction.Outgoing && t.State.Status == transaction.Completed
}

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
	return routes
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
	return action{Title: a.title, Section: "payments", Does: a.does, Facts: []fact{{Name: "Payment", Value: t.ID.String()},
		{Name: "Amount", Value: sent(t).String()}, {Name: "Status", Value: lower(t.State.Status)}}, Fields: a.fields(t),
		NeedsCode: !a.isSandbox, Back: basePath(r.platform.ID) + "/payments/" + pathOfID(t.ID),
		do: func(r *request) (string, error) { return "", a.do(c, r, t) }}, nil
}

// actionsOn returns what the person may do to a payment as it is.
func (p page) actionsOn(t transaction.Transaction) (links []fact) {
	for _, a := range paymentActions {
		if (!a.isSandbox || p.IsSandbox()) && a.offered(t) && p.Person.May(a.right, p.Platform.ID) {
			links = append(links, actionLink(a.title, p.Base+"/payments/"+pathOfID(t.ID)+"/"+a.path))
		}
	}
	if !p.IsSandbox() && p.Person.May(person.ViewConnections, ident.Platform{}) {
		links = append(links, actionLink("Payments of connections", root+"/rail-payments/"+pathOfID(t.ID)))
	}
	return links
}
