package rails

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"causeway/app/internal/foureyes"
	"causeway/core/books"
	"causeway/core/diff"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/rail"
	"causeway/ports"
)

// The operations of proposals: the commands that make them.
const (
	operationSet     = "rails set"
	operationRetire  = "rails retire"
	operationDelete  = "rails delete"
	operationBalance = "rails balance"
)

// change is the stored form of a proposed change of a connection.
type change struct {
	Connection string          `json:"connection"`
	File       json.RawMessage `json:"file,omitempty"`
	Untested   bool            `json:"untested,omitempty"`
	Amount     int64           `json:"amount,omitempty"` // in the smallest unit
	Currency   money.Currency  `json:"currency,omitempty"`
	Note       string          `json:"note"`
	// At is when a balance was set or proposed: what is paid out before the approval is taken from it.
	At time.Time `json:"at,omitzero"`
	// After is the latest version of the connection when the change was proposed; zero if there was none.
	After int `json:"afterVersion"`
}

// plan is what a change comes to. A version was tested, if it has to be.
type plan struct {
	after   int               // as of change.After
	serves  []rail.Connection // before and after the change
	version *ports.RailConnectionVersion
	test    *ports.RailTest // of version; nil if there was none
	jobs    []ports.Job     // of version, if payments can take it from now on
	seen    []ports.RailConnectionVersion
	balance *ports.OpeningBalance // instead of version
	changes []diff.Field          // what its record has
	// action is recorded of who makes the change, or approves it.
	action platform.OperatorAction
}

// kinds are what is recorded of a change.
var kinds = map[string]platform.OperatorActionKind{operationSet: platform.OperatorSetConnection,
	operationRetire: platform.OperatorRetiredConnection, operationDelete: platform.OperatorDeletedConnection,
	operationBalance: platform.OperatorSetBalance}

// save makes the change, alone or by a proposal.
func (p plan) save(ctx context.Context, tx ConnectionsTx, by platform.Approval) error {
	if !by.IsZero() {
		p.action.Actor, p.action.Person = by.By.Actor, by.By.Person
	}
	if err := tx.RecordOperatorAction(ctx, p.action); err != nil {
		return err
	}
	if p.balance != nil {
		b := *p.balance
		b.Approval = by
		return tx.SaveOpeningBalance(ctx, b)
	}
	v := *p.version
	v.Approval = by
	if err := tx.SaveRailConnection(ctx, v, p.test, p.seen); err != nil {
		return err
	}
	return tx.AddJobs(ctx, p.jobs)
}

// plan checks a change by an author and prepares it, with its record.
func (s *Service) plan(ctx context.Context, operation string, c change, by Author) (plan, error) {
	p, err := s.planOf(ctx, operation, c, by)
	if err != nil {
		return p, err
	}
	now := s.Clock.Now()
	p.action = platform.OperatorAction{ID: s.IDs.New(now), Kind: kinds[operation], Name: c.Connection, Actor: by.Actor, Person: by.Person,
		At: now, Changes: p.changes}
	return p, nil
}

func (s *Service) planOf(ctx context.Context, operation string, c change, by Author) (plan, error) {
	switch operation {
	case operationSet:
		return s.planVersion(ctx, c, by)
	case operationRetire:
		return s.planEnd(ctx, c, by, s.retire)
	case operationDelete:
		return s.planEnd(ctx, c, by, s.delete)
	case operationBalance:
		return s.planBalance(ctx, c, by)
	}
	return plan{}, &fault.Error{Code: fault.Conflict, Reason: "Request not supported",
		Message: "This version of the service cannot carry out the stored request. Reject the proposal and make it again."}
}

// change makes a change, or proposes it if a platform that the connection serves lists CONNECTION in fourEyes.
func (s *Service) change(ctx context.Context, operation string, c change, by Author) (proposal.Outcome[plan], error) {
	by, err := by.check()
	if err != nil {
		return proposal.Outcome[plan]{}, err
	}
	c.Note = by.Note
	p, err := s.plan(ctx, operation, c, by)
	if err != nil {
		return proposal.Outcome[plan]{Done: p}, err
	}
	made := proposal.Outcome[plan]{Done: p}
	err = ports.Do(ports.ForAllPlatforms(ctx), s.Connections, func(ctx context.Context, tx ConnectionsTx) error {
		fourEyes, err := tx.FourEyesPlatforms(ctx, books.ActionConnection)
		if err != nil {
			return err
		}
		if !rail.NeedsFourEyes(fourEyes, p.serves...) {
			return p.save(ctx, tx, platform.Approval{})
		}
		c.After, c.Untested = p.after, c.Untested && p.test == nil
		if made.Proposal, err = s.propose(ctx, tx, operation, c, p.version, by); err != nil {
			return err
		}
		proposed := p.action
		proposed.Kind, proposed.Subject = platform.OperatorProposedConnection, made.Proposal.ID.UUID()
		return tx.RecordOperatorAction(ctx, proposed)
	})
	return made, err
}

func (s *Service) propose(ctx context.Context, tx ConnectionsTx, operation string, c change, of *ports.RailConnectionVersion,
	by Author) (*proposal.Proposal, error) {
	if c.File != nil { // as the database compares it with the version that the approval makes
		var err error
		if c.File, err = File(of.Connection); err != nil {
			return nil, err
		}
	}
	text, err := foureyes.FormatRequest(operation, c)
	if err != nil {
		return nil, err
	}
	people, err := tx.LockPeopleOf(ctx, ident.Platform{})
	if err != nil {
		return nil, err
	}
	now := foureyes.Now(s.Clock)
	id := ident.NewProposal(s.IDs.New, now)
	created := proposal.New(id, ident.Platform{}, books.ActionConnection, operation, text, by.author(), people, now)
	return &created, foureyes.Create(ctx, tx, created, func(pending int) error { return created.CheckCreate(people, pending) })
}

// Approve makes a proposed change in one commit with its approval by another person. What it tests is tested again; it returns what
// the test has checked. A change that has become impossible, or whose connection has changed since, is answered with its fault; the
// proposal keeps that fault and stays pending. Faults: NOT_FOUND; those of proposal.Proposal.Approve and of the change.
func (s *Service) Approve(ctx context.Context, by platform.Author, id ident.Proposal) (_ proposal.Stated, checked []string, err error) {
	var made plan
	prepare := func(ctx context.Context, approved proposal.Proposal) (foureyes.CarryOut[ConnectionsTx], error) {
		c, err := foureyes.ParseRequest[change](approved.Request)
		if err != nil {
			return nil, err
		}
		proposer := Author{Actor: approved.By.Actor, Person: approved.ByPerson, Note: c.Note}
		if made, err = s.plan(ctx, approved.Operation, c, proposer); err != nil {
			return nil, notWorking(err)
		}
		if made.after != c.After {
			return nil, &fault.Error{Code: fault.Conflict, Reason: "Connection changed",
				Message: fmt.Sprintf("%s was changed after this was proposed. Reject the proposal and make it again.", c.Connection)}
		}
		return s.carryOut(made), nil
	}
	approved, err := s.decisions().Approve(ports.ForAllPlatforms(ctx), foureyes.Decision[ConnectionsTx]{ID: id, By: by}, prepare)
	if made.test != nil {
		checked = made.test.Checked
	}
	return approved, checked, err
}

// carryOut makes a change in one commit with its approval.
func (s *Service) carryOut(made plan) foureyes.CarryOut[ConnectionsTx] {
	return func(ctx context.Context, work func(context.Context, ConnectionsTx, func(proposal.Proposal) (proposal.Proposal,
		error)) error) error {
		return ports.Do(ctx, s.Connections, func(ctx context.Context, tx ConnectionsTx) error {
			return work(ctx, tx, func(p proposal.Proposal) (proposal.Proposal, error) {
				return p, made.save(ctx, tx, platform.Approval{Proposal: p.ID, By: p.DecidedBy})
			})
		})
	}
}

// notWorking returns a test that has failed as a fault, which its proposal keeps.
func notWorking(err error) error {
	var broken *NotWorking
	if errors.As(err, &broken) {
		return &fault.Error{Code: fault.Conflict, Reason: "Test failed", Message: broken.Error()}
	}
	return err
}

// Reject rejects a proposal; the proposer withdraws it so. Faults: NOT_FOUND; those of proposal.Proposal.Reject.
func (s *Service) Reject(ctx context.Context, by platform.Author, id ident.Proposal, note string) (proposal.Stated, error) {
	rejected := func(ctx context.Context, tx ConnectionsTx, of proposal.Stated) error {
		p, err := newProposal(of)
		if err != nil {
			return err
		}
		return tx.RecordOperatorAction(ctx, platform.OperatorAction{ID: s.IDs.New(of.DecidedAt), Kind: platform.OperatorRejectedConnection,
			Subject: id.UUID(), Name: p.Connection, Actor: by.Name(), Person: by.Person, At: of.DecidedAt})
	}
	return s.decisions().Reject(ports.ForAllPlatforms(ctx), foureyes.Decision[ConnectionsTx]{ID: id, By: by, Decided: rejected}, note)
}

// Proposal is a proposed change of a connection.
type Proposal struct {
	proposal.Stated
	Connection string
	// Before is the file of the latest version when it was proposed, and After that of a version that is proposed; nil for none.
	Before, After []byte
	// Untested: the version is not tested with the partner.
	Untested bool
	// Balance is the one that is proposed; zero for another change.
	Balance money.Amount
	// Reason is the proposer's.
	Reason string

	latest int // version, when it was proposed
}

// Proposal returns a proposal, or NOT_FOUND.
func (s *Service) Proposal(ctx context.Context, id ident.Proposal) (Proposal, error) {
	found, err := s.decisions().Proposal(ctx, ident.Platform{}, id)
	if err != nil {
		return Proposal{}, err
	}
	p, err := newProposal(found)
	if err != nil {
		return p, err
	}
	history, err := s.Connections.RailConnectionHistory(ctx, p.Connection)
	for _, v := range history {
		if v.Version == p.latest && err == nil {
			p.Before, err = File(v.Connection)
		}
	}
	return p, err
}

// Proposals returns a page of the proposals, newest first.
func (s *Service) Proposals(ctx context.Context, f ports.ProposalFilter) (found []Proposal, err error) {
	page, err := s.decisions().Proposals(ctx, ident.Platform{}, f)
	for i := 0; i < len(page.Items) && err == nil; i++ {
		var p Proposal
		p, err = newProposal(page.Items[i])
		found = append(found, p)
	}
	return found, err
}

// Action is the action of who approves the change.
func (p Proposal) Action() platform.OperatorAction {
	return platform.OperatorAction{Kind: kinds[p.Operation], Name: p.Connection}
}

func newProposal(p proposal.Stated) (Proposal, error) {
	var c change // also of a later version
	if err := json.Unmarshal(p.Request, &c); err != nil {
		return Proposal{}, fmt.Errorf("the request of %s: %w", p.ID, err)
	}
	return Proposal{Stated: p, Connection: c.Connection, After: c.File, Balance: money.Amount{Minor: c.Amount, Currency: c.Currency},
		Reason: c.Note, Untested: c.Untested, latest: c.After}, nil
}

func (s *Service) decisions() foureyes.Decisions[ConnectionsTx] {
	return foureyes.Decisions[ConnectionsTx]{Reader: s.Connections, Units: s.Connections, Clock: s.Clock}
}

// SetBalance sets the balance of a connection whose partner reports none, in the smallest unit, or proposes that.
func (s *Service) SetBalance(ctx context.Context, name string, balance money.Amount, by Author) (*proposal.Proposal, error) {
	made, err := s.change(ctx, operationBalance, change{Connection: name, Amount: balance.Minor, Currency: balance.Currency,
		At: foureyes.Now(s.Clock)}, by)
	return made.Proposal, err
}

func (s *Service) planBalance(ctx context.Context, c change, by Author) (plan, error) {
	seen, err := s.Connections.RailConnections(ctx)
	if err != nil {
		return plan{}, err
	}
	v, known := findConnection(seen, c.Connection)
	if !known {
		return plan{}, noConnection(c.Connection)
	}
	if !slices.Contains(v.Currencies, c.Currency) {
		return plan{}, fault.Invalid(fault.Field{Field: "currency", Message: fmt.Sprintf("must be one that %s carries", c.Connection)})
	}
	return plan{after: v.Latest, serves: []rail.Connection{v.Connection}, balance: &ports.OpeningBalance{Connection: c.Connection,
		Amount: money.Amount{Minor: c.Amount, Currency: c.Currency}, At: c.At, Actor: by.Actor,
		Person: by.Person, Note: by.Note}, changes: diff.Between(nil, diff.Values{
		"balance": money.Amount{Minor: c.Amount, Currency: c.Currency}.String()})}, nil
}
