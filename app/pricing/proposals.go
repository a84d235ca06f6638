package pricing

import (
	"context"
	"encoding/json"
	"fmt"

	"causeway/app/internal/foureyes"
	"causeway/core/books"
	"causeway/core/corridor"
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
func (s *Service) propose(ctx context.Context, tx ports.PricingTx, by Author, change corridor.Change, before, after corridor.Pricing, result *ChangeResult) error {
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
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("store the request of %s: %w", operation, err)
	}
	now := foureyes.Now(s.Clock)
	pending, err := tx.CountPendingPriceProposals(ctx, now)
	if err != nil {
		return err
	}
	if err := proposal.CheckPending(pending, "`causeway corridors approve` or `causeway corridors reject`"); err != nil {
		return err
	}
	created := proposal.New(ident.NewProposal(s.IDs.New, now), change.Platform, books.ActionPrice, operation, text, platform.Author{Actor: by.Actor}, now)
	result.Proposal = &created
	return tx.CreatePriceProposal(ctx, created)
}

// Approve makes a proposed change in one commit with its approval by another operator. A change that has become
// impossible, or whose corridor has changed since, is answered with its fault; the proposal keeps that fault and
// stays pending. Faults: NOT_FOUND; those of proposal.Proposal.Approve and of corridor.Pricing.Approve.
func (s *Service) Approve(ctx context.Context, by string, id ident.Proposal) (ChangeResult, error) {
	update := func(ctx context.Context, tx ports.PricingTx, p proposal.Proposal) error {
		return tx.UpdatePriceProposal(ctx, p)
	}
	approval := foureyes.Approval[ports.PricingTx]{By: platform.Author{Actor: by}, Clock: s.Clock, Do: s.Store.ChangePricing,
		Lock: func(ctx context.Context, tx ports.PricingTx) (proposal.Proposal, []platform.Token, error) {
			found, err := tx.PriceProposal(ctx, id)
			return found, nil, err
		}, Update: update, Save: update}
	var result ChangeResult
	carryOut := func(ctx context.Context, tx ports.PricingTx, p proposal.Proposal) (_ proposal.Proposal, err error) {
		result, err = approve(ctx, tx, p)
		return p, err
	}
	approved, err := approval.Run(ctx, func(context.Context) (foureyes.CarryOut[ports.PricingTx], error) { return carryOut, nil })
	result.Proposal = &approved
	return result, err
}

// approve makes the change of an approved proposal.
func approve(ctx context.Context, tx ports.PricingTx, p proposal.Proposal) (ChangeResult, error) {
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
	return result, tx.SaveOverride(ctx, newOverride(key, after), ports.CorridorAuthor{By: p.By.Actor, Note: r.Note,
		Approval: platform.Approval{Proposal: p.ID, By: p.DecidedBy}})
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
func (s *Service) Reject(ctx context.Context, by string, id ident.Proposal, note string) (rejected proposal.Proposal, err error) {
	err = s.Store.ChangePricing(ctx, func(ctx context.Context, tx ports.PricingTx) error {
		found, err := tx.PriceProposal(ctx, id)
		if err != nil {
			return err
		}
		if rejected, err = found.Reject(platform.Author{Actor: by}, note, foureyes.Now(s.Clock)); err != nil {
			return err
		}
		return tx.UpdatePriceProposal(ctx, rejected)
	})
	return rejected, err
}

// Proposal is a proposed change of a corridor.
type Proposal struct {
	proposal.Proposal
	// Status is that of now.
	Status proposal.Status
	Key    ports.CorridorKey
}

// IsReset reports whether the change resets the corridor to its defaults.
func (p Proposal) IsReset() bool { return p.Operation == operationReset }

// Proposal returns a proposal, or NOT_FOUND.
func (s *Service) Proposal(ctx context.Context, id ident.Proposal) (Proposal, error) {
	found, err := s.Store.PriceProposal(ctx, id)
	if err != nil {
		return Proposal{}, err
	}
	return s.newProposal(found)
}

// Proposals lists the proposals, newest first.
func (s *Service) Proposals(ctx context.Context, f ports.ProposalFilter) ([]Proposal, error) {
	f.Now = s.Clock.Now()
	page, err := s.Store.PriceProposals(ctx, f)
	if err != nil {
		return nil, err
	}
	var proposals []Proposal
	for _, item := range page.Items {
		p, err := s.newProposal(item)
		if err != nil {
			return nil, err
		}
		proposals = append(proposals, p)
	}
	return proposals, nil
}

func (s *Service) newProposal(p proposal.Proposal) (Proposal, error) {
	var r request // also of a later version
	if err := json.Unmarshal(p.Request, &r); err != nil {
		return Proposal{}, fmt.Errorf("the request of %s: %w", p.ID, err)
	}
	return Proposal{Proposal: p, Status: p.Status(s.Clock.Now()), Key: ports.CorridorKey{Platform: p.Platform, From: r.From, To: r.To}}, nil
}
