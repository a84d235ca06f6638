// Package proposal holds changes of the books that need four eyes: one person proposes the change, and
// another one approves it.
//
// It decides who may approve; it carries nothing out.
package proposal

import (
	"slices"
	"time"

	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/party"
	"causeway/core/person"
	"causeway/core/platform"
)

// Proposal is a change that a second person has to approve.
type Proposal struct {
	ID ident.Proposal
	// Platform is zero for a change of the prices of all platforms, and of a connection.
	Platform ident.Platform
	Action   books.Action
	// Operation is the id of the operation that makes the change, and Request its request as JSON: the
	// parameters of the path and the fields of the body. The operation of a change of prices or of a connection is
	// the command.
	Operation string
	Request   []byte
	// Figures are what the change comes to, as JSON, beside its request: what the approver approves. An approval
	// that would come to others is refused. Empty for most operations.
	Figures []byte
	// State is the stored status: PENDING also if the proposal has expired.
	State Status
	By    platform.Author
	// ByPerson is the person who proposes, or stands behind the service or operator that does; zero if none is known.
	ByPerson ident.Person
	// DecidedBy is who approved or rejected the proposal; zero while it is pending.
	DecidedBy platform.Author
	// DecidedByPerson is the person who has decided; zero if a service or an operator without a person has rejected it.
	DecidedByPerson ident.Person
	// Note is the reason of a rejection; may be empty.
	Note string
	// Result is what an executed proposal has made: the id of a posting or transaction, a month, a version. It is
	// empty for prices and connections.
	Result string
	// LastError is why the last approval could not be carried out; nil if none failed.
	LastError *Failure
	CreatedAt time.Time
	ExpiresAt time.Time
	DecidedAt time.Time // zero while it is pending
}

// Status is the status of a proposal.
type Status string

// The statuses. Only PENDING changes.
const (
	Pending  Status = "PENDING"
	Executed Status = "EXECUTED" // approved, and the change was made
	Rejected Status = "REJECTED"
	Expired  Status = "EXPIRED"
)

// Statuses lists every status.
var Statuses = []Status{Pending, Executed, Rejected, Expired}

// Failure is a fault of a change that could not be made.
type Failure struct {
	Code    fault.Code
	Message string
	At      time.Time
}

// Author returns who has proposed, with the person who acts or stands behind the service.
func (p Proposal) Author() platform.Author {
	by := p.By
	by.Person = p.ByPerson
	return by
}

const (
	// Lifetime is how long a proposal can be approved.
	Lifetime = 7 * 24 * time.Hour
	// MaxPending is the largest number of pending proposals of a platform.
	MaxPending = 1000
	// MaxRequest is the largest size of a stored request, in bytes.
	MaxRequest = 1 << 20
	// MaxNote is the largest number of characters of the reason of a rejection.
	MaxNote = 500
)

// New returns a pending proposal.
func New(id ident.Proposal, p ident.Platform, action books.Action, operation string, request []byte, by platform.Author, people People,
	now time.Time) Proposal {
	return Proposal{ID: id, Platform: p, Action: action, Operation: operation, Request: request, State: Pending, By: by,
		ByPerson: people.Behind(by), CreatedAt: now, ExpiresAt: now.Add(Lifetime)}
}

// Status returns the status at a time.
func (p Proposal) Status(now time.Time) Status {
	if p.State == Pending && !now.Before(p.ExpiresAt) {
		return Expired
	}
	return p.State
}

// Stated is a proposal with its status at a time.
type Stated struct {
	Proposal
	Status Status
}

// At returns the proposal with its status at a time.
func (p Proposal) At(now time.Time) Stated { return Stated{p, p.Status(now)} }

// CheckCreate returns CONFLICT if a platform cannot have one more proposal: too many are pending, or no other person could
// approve it.
func (p Proposal) CheckCreate(people People, pending int) error {
	approves := func(q person.Person) bool { return q.ID != p.ByPerson && q.May(person.ApproveBooks, p.Platform) }
	standsForAnother := func(t platform.Token) bool {
		return people.IsSandbox && t.Person.IsZero() && t.ID != p.By.Token && slices.Contains(t.Permissions, platform.Manage)
	}
	// On the command line the name of another operator is enough there.
	isOperatorOfSandbox := people.IsSandbox && p.By.Token.IsZero()
	if !isOperatorOfSandbox && !slices.ContainsFunc(people.People, approves) && !slices.ContainsFunc(people.Tokens, standsForAnother) {
		more := ""
		if people.IsSandbox {
			more = " On a sandbox platform a second token with the permission MANAGE stands for one: POST /tokens."
		}
		return conflict("No second person", "This change needs the approval of a second person, and nobody else has the role %s or %s. Invite a "+
			"person with `causeway people invite`, or add the role with `causeway people set-roles`.%s", person.Finance, person.Administrator, more)
	}
	if p.By.Token.IsZero() && p.ByPerson.IsZero() && !people.IsSandbox {
		return conflict("Not a person", "This change needs the approval of a second person, and nobody has signed in. Sign in with `causeway "+
			"login`.")
	}
	if pending >= MaxPending {
		decide := "POST /ledger/proposals/{proposalId}/approve or /reject"
		if p.Action == books.ActionPrice {
			decide = "`causeway corridors approve` or `causeway corridors reject`"
		} else if p.Action == books.ActionConnection {
			decide = "`causeway rails approve` or `causeway rails reject`"
		}
		return conflict("Too many proposals", "%d proposals are pending. Approve or reject some of them with %s.", pending, decide)
	}
	return nil
}

// CheckRequest returns CONFLICT for a request that is too large for a proposal.
func CheckRequest(request []byte) error {
	if len(request) > MaxRequest {
		return conflict("Request too large", "This change needs the approval of a second person, and a proposal is at most 1 MiB. Make several "+
			"changes, such as one for each currency.")
	}
	return nil
}

// Approve returns the proposal as approved and carried out by a person. Faults: CONFLICT if it is not pending, if the token that
// proposed it was deleted, if a service approves on a production platform, or the person who proposed it, whichever way it acts;
// FORBIDDEN if the person may not approve.
func (p Proposal) Approve(by platform.Author, people People, now time.Time) (Proposal, error) {
	if err := p.checkPending(now); err != nil {
		return p, err
	}
	if _, exists := people.token(p.By.Token); !exists && !p.By.Token.IsZero() {
		return p, conflict("Token deleted", "The token that made this proposal was deleted. Reject the proposal and make it again with another "+
			"token.")
	}
	approver, isKnown := people.Acting(by)
	switch {
	case !isKnown && !people.IsSandbox:
		return p, conflict("Not a person", "A proposal is approved by a person: in the console, with a token that belongs to a person ("+
			"`causeway token create --person`), or on the command line after `causeway login`.")
	case p.By.Token == by.Token && !by.Token.IsZero(), by.Actor != "" && platform.IsSameActor(by.Actor, p.By.Actor),
		isKnown && p.IsBy(approver):
		return p, conflict("Same person", "You made this proposal, or the token that made it; another person must approve it.")
	case isKnown:
		if err := approver.Check(person.ApproveBooks, p.Platform); err != nil {
			return p, err
		}
	}
	p.State, p.DecidedBy, p.DecidedByPerson, p.DecidedAt, p.LastError = Executed, by, approver.ID, now, nil
	return p, nil
}

// IsBy reports whether a person has proposed, whichever way, or the proposer has given its name or address.
func (p Proposal) IsBy(q person.Person) bool {
	return q.ID == p.ByPerson || platform.IsSameActor(p.By.Actor, q.Name) || platform.IsSameActor(p.By.Actor, q.Email)
}

// Reject returns the proposal as rejected. The proposer may reject it too, to withdraw it. Faults:
// INVALID_INPUT for the note; CONFLICT if it is not pending.
func (p Proposal) Reject(by platform.Author, people People, note string, now time.Time) (Proposal, error) {
	var bad party.Problems
	if bad.Text("note", note, party.Optional, MaxNote); bad.Err() != nil {
		return p, bad.Err()
	}
	if err := p.checkPending(now); err != nil {
		return p, err
	}
	p.State, p.DecidedBy, p.DecidedByPerson, p.DecidedAt, p.Note = Rejected, by, people.Behind(by), now, note
	return p, nil
}

// Fail returns the proposal, which stays pending, after an approval that could not be carried out.
func (p Proposal) Fail(cause *fault.Error, now time.Time) Proposal {
	p.LastError = &Failure{Code: cause.Code, Message: cause.Message, At: now}
	return p
}

func (p Proposal) checkPending(now time.Time) error {
	switch status := p.Status(now); status {
	case Pending:
		return nil
	case Expired:
		return conflict("Proposal expired", "The proposal expired at %s. Make it again.", p.ExpiresAt.UTC().Format(time.RFC3339))
	default:
		return conflict("Proposal decided", "The proposal is already %s.", status)
	}
}

func conflict(reason, format string, args ...any) error {
	f := fault.New(fault.Conflict, format, args...)
	f.Reason = reason
	return f
}

// NotFound returns NOT_FOUND.
func NotFound(id ident.Proposal) error {
	return fault.New(fault.NotFound, "No proposal has the id %s. List them with GET /ledger/proposals.", id)
}

// PriceNotFound returns NOT_FOUND for a proposal to change prices, which operators decide.
func PriceNotFound(id ident.Proposal) error {
	return fault.New(fault.NotFound, "No proposed change of prices has the id %s. List them with `causeway corridors proposals list`.", id)
}

// ConnectionNotFound returns NOT_FOUND for a proposal to change a connection, which operators decide.
func ConnectionNotFound(id ident.Proposal) error {
	return fault.New(fault.NotFound, "No proposed change of a connection has the id %s. List them with `causeway rails proposals list`.", id)
}

// Outcome is the outcome of a request that may need four eyes: what it did, or the proposal that it made.
type Outcome[Result any] struct {
	Done     Result
	Proposal *Proposal // nil if the request was carried out
}
