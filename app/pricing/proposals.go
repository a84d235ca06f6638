package pricing

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"causeway/app/internal/foureyes"
	"causeway/core/books"
	"causeway/core/corridor"
	"causeway/core/diff"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

// The operations of proposals: the commands that make them.
const (
	operationSet   = "corridors set"
	operationReset = "corridors reset"
)

// request is the stored form of a proposed change, with the state of the corridor when it was proposed and the one
// that it leads to.
type request struct {
	From     money.Currency `json:"from"`
	To       money.Currency `json:"to"`
	Platform string         `json:"platform,omitempty"` // empty: all platforms
	Set      *values        `json:"set,omitempty"`      // nil: a reset
	Note     string         `json:"note,omitempty"`
	Before   state          `json:"before"`
	After    state          `json:"after"`
}

type state struct {
	Terms values `json:"terms"`
	// Override are the values that the corridor has of its own.
	Override values `json:"override"`
}

// values is a corridor.OverrideInput with the names of the flags.
type values struct {
	Fixed   string `json:"fee-fixed,omitempty"`
	Percent string `json:"fee-percent,omitempty"`
	Min     string `json:"min,omitempty"`
	Max     string `json:"max,omitempty"`
	Lock    string `json:"lock,omitempty"`
}

func newState(s corridor.State) state {
	return state{Terms: values(s.Terms), Override: values(s.Override)}
}

func (s state) state() corridor.State {
	return corridor.State{Terms: corridor.OverrideInput(s.Terms), Override: corridor.OverrideInput(s.Override)}
}

// propose stores a proposal of a change, unless the change would have no effect.
func (s *Service) propose(ctx context.Context, tx Tx, by Author, change corridor.Change, before, after corridor.Pricing,
	result *ChangeResult) error {
	was, will := before.StateFor(change.Platform), after.StateFor(change.Platform)
	if result.ChangedFields = was.ChangedFields(will); len(result.ChangedFields) == 0 {
		return nil
	}
	r := request{From: result.From, To: result.To, Note: by.Note, Before: newState(was), After: newState(will)}
	operation := operationReset
	if !change.Platform.IsZero() {
		r.Platform = change.Platform.String()
	}
	if !change.Reset {
		operation, r.Set = operationSet, new(values(change.Set.Format()))
	}
	text, err := foureyes.FormatRequest(operation, r)
	if err != nil {
		return err
	}
	people, err := tx.LockPeopleOf(ctx, change.Platform)
	if err != nil {
		return err
	}
	now := foureyes.Now(s.Clock)
	created := proposal.New(ident.NewProposal(s.IDs.New, now), change.Platform, books.ActionPrice, operation, text,
		platform.Author{Actor: by.Actor, Person: by.Person}, people, now)
	result.Proposal = &created
	if err := foureyes.Create(ctx, tx, created, func(pending int) error { return created.CheckCreate(people, pending) }); err != nil ||
		by.Actor == "" {
		return err
	}
	return s.recordProposal(ctx, tx, platform.OperatorProposedPrice, created, created.By, created.ByPerson, now)
}

// Approve makes a proposed change in one commit with its approval by another operator. A change that has become
// impossible, or whose corridor has changed since, is answered with its fault; the proposal keeps that fault and
// stays pending. Faults: NOT_FOUND; those of proposal.Proposal.Approve and of corridor.Pricing.Approve.
func (s *Service) Approve(ctx context.Context, by platform.Author, id ident.Proposal) (result ChangeResult, err error) {
	run := func(ctx context.Context, work func(context.Context, Tx, func(proposal.Proposal) (proposal.Proposal, error)) error) error {
		return ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
			return work(ctx, tx, func(p proposal.Proposal) (_ proposal.Proposal, err error) {
				result, err = s.approve(ctx, tx, p)
				return p, err
			})
		})
	}
	prepare := func(context.Context, proposal.Proposal) (foureyes.CarryOut[Tx], error) { return run, nil }
	approved, err := s.decisions().Approve(ports.ForAllPlatforms(ctx), decision(by, id), prepare)
	result.Proposal = &approved.Proposal
	return result, err
}

// decisions decides the proposals of all platforms.
func (s *Service) decisions() foureyes.Decisions[Tx] {
	return foureyes.Decisions[Tx]{Reader: s.Store, Units: s.Store, Clock: s.Clock}
}

func decision(by platform.Author, id ident.Proposal) foureyes.Decision[Tx] {
	return foureyes.Decision[Tx]{ID: id, By: by}
}

// approve makes the change of an approved proposal.
func (s *Service) approve(ctx context.Context, tx Tx, p proposal.Proposal) (ChangeResult, error) {
	r, err := foureyes.ParseRequest[request](p.Request)
	if err != nil {
		return ChangeResult{}, err
	}
	key, change, err := r.change(p.Platform)
	if err != nil {
		return ChangeResult{}, err
	}
	pair, err := findPair(key)
	if err != nil {
		return ChangeResult{}, err
	}
	table, err := tx.CorridorOverrides(ctx)
	if err != nil {
		return ChangeResult{}, err
	}
	before := pricingOf(pair, table)
	after, err := before.Approve(change, r.Before.state())
	if err != nil {
		return ChangeResult{}, err
	}
	result := newChangeResult(key, before, after)
	result.ChangedFields = r.Before.state().ChangedFields(after.StateFor(p.Platform))
	if err := tx.SaveOverride(ctx, newOverride(key, after), ports.CorridorAuthor{By: p.By.Actor, Person: p.ByPerson, Note: r.Note,
		Approval: platform.Approval{Proposal: p.ID, By: p.DecidedBy}}); err != nil {
		return result, err
	}
	return result, s.record(ctx, tx, platform.Author{Actor: p.DecidedBy.Actor, Person: p.DecidedByPerson}, key, change.Reset, before, after)
}

// change returns the proposed change, of a platform or of all.
func (r request) change(p ident.Platform) (ports.CorridorKey, corridor.Change, error) {
	key := ports.CorridorKey{Platform: p, From: r.From, To: r.To}
	if r.Set == nil {
		return key, corridor.Change{Platform: p, Reset: true}, nil
	}
	set, bad := corridor.OverrideInput(*r.Set).Parse()
	if len(bad) > 0 {
		return key, corridor.Change{}, fault.Invalid(bad...)
	}
	return key, corridor.Change{Platform: p, Set: set}, nil
}

// Reject rejects a proposal; the proposer withdraws it so. Faults: NOT_FOUND; those of proposal.Proposal.Reject.
func (s *Service) Reject(ctx context.Context, by platform.Author, id ident.Proposal, note string) (proposal.Stated, error) {
	d := decision(by, id)
	d.Decided = func(ctx context.Context, tx Tx, p proposal.Stated) error {
		return s.recordProposal(ctx, tx, platform.OperatorRejectedPrice, p.Proposal, by, by.Person, p.DecidedAt)
	}
	return s.decisions().Reject(ctx, d, note)
}

// recordProposal records who has proposed a change or rejected it, with the terms before it and after.
func (s *Service) recordProposal(ctx context.Context, tx Tx, kind platform.OperatorActionKind, of proposal.Proposal, by platform.Author,
	who ident.Person, at time.Time) error {
	p, err := newProposal(proposal.Stated{Proposal: of})
	if err != nil {
		return err
	}
	a := p.Action()
	a.ID, a.Kind, a.Subject, a.Actor, a.Person, a.At = s.IDs.New(at), kind, of.ID.UUID(), by.Name(), who, at
	if kind == platform.OperatorProposedPrice {
		a.Changes = diff.Between(p.Before.Values(p.Key.From), p.After.Values(p.Key.From))
	}
	return tx.RecordOperatorAction(ctx, a)
}

// Proposal is a proposed change of a corridor.
type Proposal struct {
	proposal.Stated
	Key ports.CorridorKey
	// Before are the terms when the change was proposed, and After those that it leads to.
	Before, After corridor.OverrideInput
	// Reason is the proposer's.
	Reason string
}

// Action is the action of who approves the change.
func (p Proposal) Action() platform.OperatorAction {
	return actionOn(p.Key, p.Operation == operationReset)
}

// Proposal returns a proposal, or NOT_FOUND.
func (s *Service) Proposal(ctx context.Context, id ident.Proposal) (Proposal, error) {
	found, err := s.decisions().Proposal(ctx, ident.Platform{}, id)
	if err != nil {
		return Proposal{}, err
	}
	return newProposal(found)
}

// Proposals lists the proposals, newest first.
func (s *Service) Proposals(ctx context.Context, f ports.ProposalFilter) ([]Proposal, error) {
	page, err := s.decisions().Proposals(ctx, ident.Platform{}, f)
	if err != nil {
		return nil, err
	}
	var proposals []Proposal
	for _, item := range page.Items {
		p, err := newProposal(item)
		if err != nil {
			return nil, err
		}
		proposals = append(proposals, p)
	}
	return proposals, nil
}

func newProposal(p proposal.Stated) (Proposal, error) {
	var r request // also of a later version
	if err := json.Unmarshal(p.Request, &r); err != nil {
		return Proposal{}, fmt.Errorf("the request of %s: %w", p.ID, err)
	}
	return Proposal{Stated: p, Key: ports.CorridorKey{Platform: p.Platform, From: r.From, To: r.To},
		Before: corridor.OverrideInput(r.Before.Terms), After: corridor.OverrideInput(r.After.Terms), Reason: r.Note}, nil
}
