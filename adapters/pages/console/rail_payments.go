package console

import (
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"causeway/app/rails"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/rail"
)

// railDecision is something that a person decides about a payment of a connection.
type railDecision struct {
	path, title, does string
	// in are the states of a payment that it is offered for. The use case decides whether it can be made.
	in     []rail.State
	fields []field
	// do returns the page to go to; that of the payment if it is empty.
	do func(c *Console, r *request, id uuid.UUID) (to string, err error)
}

var railDecisions = []railDecision{
	{"release", "Release", "The payment goes on: it is sent when the queue is next looked at. If releases need a second person on " +
		"its platform, it waits until that person approves.", []rail.State{rail.InReview, rail.Queued},
		[]field{noteField}, func(c *Console, r *request, id uuid.UUID) (string, error) {
			done, err := c.Rails.Release(r.Context(), id, railAuthor(r))
			if err != nil || done.Proposal == nil {
				return "", err
			}
			return proposed(basePath(done.Proposal.Platform), done), nil
		}},
	{"cancel", "Cancel", "The payment is not sent, and what the customer paid is refunded. That cannot be undone.",
		[]rail.State{rail.InReview, rail.Queued}, []field{noteField}, func(c *Console, r *request, id uuid.UUID) (string, error) {
			_, err := c.Rails.Cancel(r.Context(), id, railAuthor(r))
			return "", err
		}},
	{"withdraw", "Take back", "The payment is taken back from the connection, if it has not left. It then waits for a review, after " +
		"which it " +
		"can be released, moved or cancelled.", []rail.State{rail.Queued, rail.HandedOver}, []field{noteField},
		func(c *Console, r *request, id uuid.UUID) (string, error) {
			_, err := c.Rails.Withdraw(r.Context(), id, railAuthor(r))
			return "", err
		}},
	{"move", "Give to another connection", "The payment is then in the queue of another connection, which must carry its rail and " +
		"currency. One " +
		"that waits for a review goes on waiting for it.", []rail.State{rail.InReview, rail.Queued},
		[]field{{Name: "to", Label: "Connection"}, noteField}, func(c *Console, r *request, id uuid.UUID) (string, error) {
			_, err := c.Rails.Move(r.Context(), id, formText(r, "to"), railAuthor(r))
			return "", err
		}},
	{"not-sent", "Report as not sent", "It is recorded that the partner has not got the payment although it has left by the records. When a " +
		"second person reports the same, it is cancelled and the customer refunded; until then it stays as it is.", []rail.State{rail.Sent},
		[]field{noteField}, func(c *Console, r *request, id uuid.UUID) (string, error) {
			_, err := c.Rails.MarkNotSent(r.Context(), id, railAuthor(r))
			return "", err
		}},
}

// railStates are those of payments that have not ended.
var railStates = []rail.State{rail.InReview, rail.Queued, rail.HandedOver, rail.Sent}

// maxRailPayments is how many payments of connections are listed, those first that wait longest.
const maxRailPayments = 200

func (c *Console) showRailPayments(r *request) error {
	query := r.URL.Query()
	state, connection := rail.State(query.Get("state")), strings.TrimSpace(query.Get("connection"))
	if state == "" {
		state = rail.InReview
	}
	if !slices.Contains(railStates, state) {
		return errNotFound
	}
	found, err := c.Rails.Waiting(r.Context(), state, connection, maxRailPayments+1)
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Payments of connections", "rail-payments"), Intro: "Payments of all platforms that have not ended, those " +
		"first that " +
		"wait longest. Those above the limit of a connection wait for a review."}
	options := optionsOf(railStates)[1:]
	v.Filter = &filter{root + "/rail-payments", []field{{Name: "state", Label: "State", Kind: "select", Value: string(state),
		Options: options},
		{Name: "connection", Label: "Connection", Value: connection}}}
	rows := table{Label: "Payments", Columns: columns("Since", "Age", "Payment", "Kind", "Connection", "Rail", ">Amount", "Currency", "Why"),
		Empty: "No payment is in this state. Choose another one."}
	for _, p := range found[:min(len(found), maxRailPayments)] {
		rows.Rows = append(rows.Rows, []cell{timed(p.RecordedAt), plain(ageOf(c.Clock.Now().Sub(p.RecordedAt))),
			shortID(p.ID.String(), root+"/rail-payments/"+p.ID.String()), plain(p.Kind.Word()), plain(p.Connection), plain(string(p.Rail)),
			amountCell(major(p.Amount)), plain(string(p.Amount.Currency)), plain(joined([]string{lower(p.Wait), p.Reason}))})
	}
	v.Sections = []section{{Table: &rows}}
	if len(found) > maxRailPayments {
		v.Sections = append(v.Sections, section{Text: "There are more. Choose a connection, or list them with `causeway payouts list`."})
	}
	return c.show(r, v)
}

func (c *Console) railPaymentsIn(r *request) (uuid.UUID, []rails.Decided, error) {
	id, err := uuid.Parse(r.PathValue("payment"))
	if err != nil {
		return id, nil, errNotFound
	}
	found, err := c.Rails.Payments(r.Context(), id)
	return id, found, notThere(err)
}

func (c *Console) showRailPayment(r *request) error {
	id, found, err := c.railPaymentsIn(r)
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Payment of a connection", "rail-payments")}
	v.Sections, v.Actions = v.railSections(id, found, person.Mask)
	return c.show(r, v)
}

// railSections returns what connections say about payments with an id, with the partner's words as show shows them, and what the
// person may decide about them.
func (p page) railSections(id uuid.UUID, found []rails.Decided, show func(string) string) (sections []section, actions []fact) {
	for _, carried := range found {
		s := section{Heading: capital(carried.Kind.Word()) + ", " + lower(carried.State), Facts: railFacts(carried.Payment)}
		s.Facts = add(s.Facts, "Partner's code", carried.Said.Code)
		s.Facts = add(s.Facts, "Partner's words", show(carried.Said.Text))
		s.Table = &table{Label: "Decisions about the " + carried.Kind.Word(), Columns: columns("Time", "Decision", "By", "Reason"),
			Empty: "Nobody has decided anything about it."}
		for _, d := range carried.Decisions {
			s.Table.Rows = append(s.Table.Rows, []cell{timed(d.At), plain(lower(d.Decision)), acted(d.Actor), plain(d.Note)})
		}
		sections = append(sections, s)
		if !p.Person.May(person.DecidePayments, ident.Platform{}) {
			continue
		}
		for _, d := range railDecisions {
			if slices.Contains(d.in, carried.State) {
				actions = append(actions, actionLink(d.title, root+"/rail-payments/"+id.String()+"/"+d.path))
			}
		}
	}
	return sections, actions
}

func railFacts(p rail.Payment) []fact {
	facts := add(nil, "Payment", p.ID.String())
	if p.Kind != rail.SendBack {
		facts[0].Link = basePath(p.Platform) + "/payments/" + p.ID.String()
	}
	facts = add(facts, "Travels as", rail.EndToEndID(p.ID))
	facts = add(facts, "Amount", p.Amount.String())
	facts = add(facts, "Platform", p.Platform.String(), basePath(p.Platform))
	facts = add(facts, "Connection", p.Connection)
	if p.Connection != "" {
		facts[len(facts)-1].Link = root + "/connections/" + p.Connection
	}
	facts = add(facts, "Rail", string(p.Rail))
	facts = add(facts, "Waits for", joined([]string{lower(p.Wait), p.Reason}))
	facts = add(facts, "Partner's id", p.PartnerID)
	facts = add(facts, "Recorded", moment(p.RecordedAt))
	facts = add(facts, "Handed over", moment(p.HandedOverAt))
	facts = add(facts, "Left", moment(p.SentAt))
	facts = add(facts, "Settled", moment(p.SettledAt))
	return add(facts, "Returned", moment(p.ReturnedAt))
}

func (c *Console) decideRailPayment(r *request, d railDecision) (action, error) {
	id, found, err := c.railPaymentsIn(r)
	if err != nil {
		return action{}, err
	}
	if len(found) == 0 {
		return action{}, &problem{http.StatusNotFound, "Not found", "No connection has such a payment."}
	}
	return action{Title: d.title, Section: "rail-payments", Does: d.does, Facts: railFacts(found[len(found)-1].Payment),
		Fields: append([]field(nil), d.fields...), NeedsCode: true, Back: root + "/rail-payments/" + id.String(),
		do: func(r *request) (string, error) { return d.do(c, r, id) }}, nil
}
