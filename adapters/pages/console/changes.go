package console

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"causeway/app/pricing"
	"causeway/app/rails"
	"causeway/core/diff"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

// Prices are the use cases on proposed changes of prices.
type Prices interface {
	Proposal(ctx context.Context, id ident.Proposal) (pricing.Proposal, error)
	Proposals(ctx context.Context, f ports.ProposalFilter) ([]pricing.Proposal, error)
	Approve(ctx context.Context, by platform.Author, id ident.Proposal) (pricing.ChangeResult, error)
	Reject(ctx context.Context, by platform.Author, id ident.Proposal, note string) (proposal.Stated, error)
}

// Connections are the use cases on proposed changes of connections.
type Connections interface {
	Proposal(ctx context.Context, id ident.Proposal) (rails.Proposal, error)
	Proposals(ctx context.Context, f ports.ProposalFilter) ([]rails.Proposal, error)
	Approve(ctx context.Context, by platform.Author, id ident.Proposal) (proposal.Stated, []string, error)
	Reject(ctx context.Context, by platform.Author, id ident.Proposal, note string) (proposal.Stated, error)
}

// proposedChange is a proposed change of a price or a connection, which operators propose by command.
type proposedChange struct {
	proposal.Stated
	// of names what is changed, and reason is the proposer's.
	of, reason string
	facts      []fact
	// before and after are values by their names.
	before, after diff.Values
	// record is what is recorded of an approval.
	record platform.OperatorAction
}

// changeKind is a kind of proposed changes.
type changeKind struct {
	path, word, approves string
	one                  func(*Console, *request, ident.Proposal) (proposedChange, error)
	all                  func(*Console, *request, ports.ProposalFilter) ([]proposedChange, error)
	approve              func(*Console, *request, platform.Author, ident.Proposal) error
	reject               func(*Console, *request, platform.Author, ident.Proposal, string) error
}

var changeKinds = []changeKind{
	{"prices", "Price", "The price is changed at once, if it is still the one of when this was proposed. Quotes that are made from " +
		"then on have it. Both persons are stored with it.",
		func(c *Console, r *request, id ident.Proposal) (proposedChange, error) {
			found, err := c.Prices.Proposal(r.Context(), id)
			return priceChange(found), err
		},
		func(c *Console, r *request, f ports.ProposalFilter) ([]proposedChange, error) {
			found, err := c.Prices.Proposals(r.Context(), f)
			return converted(found, priceChange), err
		},
		func(c *Console, r *request, by platform.Author, id ident.Proposal) error {
			_, err := c.Prices.Approve(r.Context(), by, id)
			return err
		},
		func(c *Console, r *request, by platform.Author, id ident.Proposal, note string) error {
			_, err := c.Prices.Reject(r.Context(), by, id, note)
			return err
		}},
	{"connections", "Connection", "The change comes into force if nothing else was changed since. A version that is to be tested is " +
		"tested with the partner again. Both persons are stored with it.",
		func(c *Console, r *request, id ident.Proposal) (proposedChange, error) {
			found, err := c.Connections.Proposal(r.Context(), id)
			return connectionChange(found), err
		},
		func(c *Console, r *request, f ports.ProposalFilter) ([]proposedChange, error) {
			found, err := c.Connections.Proposals(r.Context(), f)
			return converted(found, connectionChange), err
		},
		func(c *Console, r *request, by platform.Author, id ident.Proposal) error {
			_, _, err := c.Connections.Approve(r.Context(), by, id)
			return err
		},
		func(c *Console, r *request, by platform.Author, id ident.Proposal, note string) error {
			_, err := c.Connections.Reject(r.Context(), by, id, note)
			return err
		}},
}

func converted[T, U any](all []T, of func(T) U) (found []U) {
	for _, item := range all {
		found = append(found, of(item))
	}
	return found
}

func priceChange(p pricing.Proposal) proposedChange {
	whose := "all platforms"
	if !p.Key.Platform.IsZero() {
		whose = p.Key.Platform.String()
	}
	record := p.Action()
	return proposedChange{Stated: p.Stated, of: record.Name, reason: p.Reason, facts: add(nil, "Price of", whose),
		before: p.Before.Values(p.Key.From), after: p.After.Values(p.Key.From), record: record}
}

func connectionChange(p rails.Proposal) proposedChange {
	c := proposedChange{Stated: p.Stated, of: p.Connection, reason: p.Reason, record: p.Action()}
	if p.Balance.Currency != "" {
		c.facts = add(nil, "Balance afterwards", p.Balance.String())
	}
	if p.Untested {
		c.facts = add(c.facts, "Test", "none: nobody tries the connection before it pays")
	}
	if p.After != nil {
		c.before, c.after = diff.Of(p.Before), diff.Of(p.After)
	}
	return c
}

// changedFields lists fields with their values before and after.
func changedFields(fields []diff.Field, empty string) *table {
	t := &table{Label: "What changes", Columns: columns("Value", "Before", "After"), Empty: empty}
	for _, f := range fields {
		row := []cell{plain(f.Name), plain(f.Before), plain(f.After)}
		if f.Hidden {
			row[1], row[2] = plain("hidden"), plain("hidden")
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (c *Console) changeRoutes() (routes []platformRoute) {
	routes = []platformRoute{{http.MethodGet, "/changes", person.View, c.showChanges}}
	for _, k := range changeKinds {
		path := "/changes/" + k.path + "/{proposal}"
		routes = append(routes, platformRoute{http.MethodGet, path, person.View, func(r *request) error { return c.showChange(r, k) }})
		routes = append(routes, c.actionRoutes(path+"/approve", person.ApproveBooks,
			func(r *request) (action, error) { return c.decideChange(r, k, true) })...)
		routes = append(routes, c.actionRoutes(path+"/reject", person.ApproveBooks,
			func(r *request) (action, error) { return c.decideChange(r, k, false) })...)
	}
	return routes
}

func (c *Console) showChanges(r *request) error {
	status := proposal.Status(r.URL.Query().Get("status"))
	if status != "" && !slices.Contains(proposal.Statuses, status) {
		return errNotFound
	}
	v := view{page: c.page(r, "Prices and connections", "changes"), Intro: "Changes of prices and connections that another person approves, " +
		"newest first. Operators propose them with `causeway corridors` and `causeway rails`."}
	v.Filter = &filter{root + "/changes", []field{{Name: "status", Label: "Status", Kind: "select", Value: string(status),
		Options: optionsOf(proposal.Statuses)}}}
	f := ports.ProposalFilter{Paging: pagingOf(r), Status: status}
	f.Limit++
	type ofKind struct {
		changeKind
		proposedChange
	}
	var all []ofKind
	for _, k := range changeKinds {
		found, err := k.all(c, r, f)
		if err != nil {
			return err
		}
		all = append(all, converted(found, func(p proposedChange) ofKind { return ofKind{k, p} })...)
	}
	slices.SortFunc(all, func(a, b ofKind) int { return cmp.Compare(b.ID.String(), a.ID.String()) }) // newest first
	shown := all[:min(len(all), pageSize)]
	t := &table{Label: "Changes", Columns: columns("Proposed", "Kind", "Change", "Of", "Status", "By", "Decided by"),
		Empty: "There is no such proposal. They are made where a platform lists the action in `fourEyes` of its ledger settings."}
	for _, p := range shown {
		t.Rows = append(t.Rows, []cell{timed(p.CreatedAt), plain(p.word), linked(p.Operation, changePath(p.changeKind, p.ID)), plain(p.of),
			stated(p.Status), acted(p.By.String()), plain(p.DecidedBy.Actor)})
	}
	v.Sections = []section{{Table: t}}
	v.Older = older(r, len(all) > pageSize, shown, func(p ofKind) string { return pathOfID(p.ID) })
	return c.show(r, v)
}

func changePath(k changeKind, id ident.Proposal) string {
	return root + "/changes/" + k.path + "/" + pathOfID(id)
}

func (c *Console) changeIn(r *request, k changeKind) (proposedChange, error) {
	id, err := idIn(r, "proposal", ident.ParseProposal)
	if err != nil {
		return proposedChange{}, err
	}
	found, err := k.one(c, r, id)
	if f, ok := fault.As(err); ok && f.Code.Status() == http.StatusNotFound {
		return found, errNotFound
	}
	return found, err
}

// allFacts says what is proposed, by whom, and what became of it.
func (p proposedChange) allFacts() []fact {
	facts := add(nil, "Id", p.ID.String())
	facts = add(facts, "Change", p.Operation)
	facts = append(add(facts, "Of", p.of), p.facts...)
	facts = add(facts, "Proposed", moment(p.CreatedAt))
	facts = addActor(facts, "By", "", p.By.String())
	facts = add(facts, "Why", p.reason)
	if p.DecidedAt.IsZero() {
		facts = add(facts, "Expires", moment(p.ExpiresAt))
	} else {
		facts = addActor(add(facts, "Decided", moment(p.DecidedAt)), "Decided by", "", p.DecidedBy.String())
	}
	facts = add(facts, "Reason of the decision", p.Note)
	if p.LastError != nil {
		facts = add(facts, "Last error", p.LastError.Message)
	}
	return facts
}

func (c *Console) showChange(r *request, k changeKind) error {
	p, err := c.changeIn(r, k)
	if err != nil {
		return err
	}
	v := view{page: c.page(r, k.word+" "+p.of, "changes"), State: string(p.Status), Facts: p.allFacts()}
	if p.after != nil && (k.path == "prices" || v.mayViewSettings()) {
		v.Sections = []section{{Heading: "What changes", Table: changedFields(diff.Between(p.before, p.after),
			"No value changes, only where it comes from.")}}
	}
	if p.Status == proposal.Pending && v.Person.May(person.ApproveBooks, ident.Platform{}) {
		reject := "Reject"
		if p.IsBy(r.in.Person) {
			reject = "Withdraw"
		} else {
			v.Actions = append(v.Actions, actionLink("Approve", changePath(k, p.ID)+"/approve"))
		}
		v.Actions = append(v.Actions, actionLink(reject, changePath(k, p.ID)+"/reject"))
	}
	return c.show(r, v)
}

// decideChange approves or rejects a change, as the person who has signed in.
func (c *Console) decideChange(r *request, k changeKind, approves bool) (action, error) {
	p, err := c.changeIn(r, k)
	if err != nil {
		return action{}, err
	}
	by := platform.Author{Actor: r.in.Person.Email, Person: r.in.Person.ID}
	a := action{Section: "changes", Facts: p.allFacts(), NeedsCode: true, Back: changePath(k, p.ID)}
	for _, f := range diff.Between(p.before, p.after) {
		a.Facts = append(a.Facts, fact{Name: f.Name, Value: f.Before + " → " + f.After})
	}
	if approves {
		a.Title, a.Does, a.Record, a.RecordsItself = "Approve", k.approves, p.record, true
		a.do = func(r *request) (string, error) { return "", k.approve(c, r, by, p.ID) }
		return a, nil
	}
	a.Title, a.Does, a.Fields = "Reject", "The change is not made. Who has proposed it sees the reason.", []field{noteField}
	a.do = func(r *request) (string, error) { return "", k.reject(c, r, by, p.ID, r.PostFormValue("note")) }
	return a, nil
}

// waitingChanges are changes of prices and connections that the person may approve.
func (c *Console) waitingChanges(r *request, _ string) (all []waiting, err error) {
	r = &request{Request: r.WithContext(ports.ForAllPlatforms(r.Context())), in: r.in}
	for _, k := range changeKinds {
		found, err := k.all(c, r, ports.ProposalFilter{Paging: ports.Paging{Limit: maxCounted + 1}, Status: proposal.Pending})
		if err != nil {
			return nil, err
		}
		n := len(slices.DeleteFunc(found, func(p proposedChange) bool { return p.IsBy(r.in.Person) }))
		all = append(all, newWaiting(n, "change of a "+lower(k.word)+" waits", "changes of "+lower(k.word)+"s wait",
			root+"/changes?status=PENDING", "for the approval of a second person.")...)
	}
	return all, nil
}
