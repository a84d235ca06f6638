// Package rails implements the operator's view of connections to partners: it lists, sets, tests and pauses them, decides
// about payments that wait and reports that could not be taken, and proves that the ledger holds what partners and chains say.
//
// Running processes read changes by themselves. app/internal/connections sends the payments.
package rails

import (
	"context"
	"slices"
	"strconv"
	"time"

	"causeway/core/corridor"
	"causeway/core/diff"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/rail"
	"causeway/ports"
)

// Config is what the use cases need.
type Config struct {
	Store       Store
	Connections RailConnectionStore
	// Balances, Proofs and Finance are for the proof.
	Balances RailBalanceStore
	Proofs   RailProofStore
	Finance  Finance
	// Feeds and Statements have what partners reported and could not be taken or reconciled.
	Feeds       RailFeedStore
	Statements  RailStatementStore
	BankNotices BankNotices
	Lost        LostCommitStore
	// Open returns the adapter of a connection; it checks the settings and calls no partner.
	Open  func(rail.Connection) (ports.ConnectedRail, error)
	Clock ports.Clock
	IDs   ports.IDs
}

// Service implements the use cases.
type Service struct{ Config }

// New returns a Service.
func New(c Config) *Service { return &Service{c} }

// Author is who changes something, and why.
type Author struct {
	Actor, Note string
	// Person is who has signed in; zero if nobody has.
	Person ident.Person
}

// check returns the author as it is recorded, or INVALID_INPUT.
func (a Author) check() (Author, error) {
	var bad []fault.Field
	by, err := a.author().Parsed()
	for _, err := range []error{err, rail.CheckNote(a.Note)} {
		if f, ok := fault.As(err); ok {
			bad = append(bad, f.Fields...)
		}
	}
	if len(bad) > 0 {
		return a, fault.Invalid(bad...)
	}
	a.Actor = by.Actor
	return a, nil
}

func (a Author) author() platform.Author { return platform.Author{Actor: a.Actor, Person: a.Person} }

// Listed is a connection as operators see it.
type Listed struct {
	ports.RailConnectionVersion
	// PausedBy are the pauses of the connection and of its rails.
	PausedBy []ports.RailPause
}

// List returns all connections, in the order in which they are chosen, and what is paused.
func (s *Service) List(ctx context.Context) ([]Listed, []ports.RailPause, error) {
	versions, err := s.Connections.RailConnections(ctx)
	if err != nil {
		return nil, nil, err
	}
	pauses, err := s.Connections.RailPauses(ctx)
	if err != nil {
		return nil, nil, err
	}
	pauses = slices.DeleteFunc(pauses, func(p ports.RailPause) bool { return !p.Paused })
	slices.SortFunc(versions, func(a, b ports.RailConnectionVersion) int { return rail.Compare(a.Connection, b.Connection) })
	listed := make([]Listed, len(versions))
	for i, v := range versions {
		listed[i].RailConnectionVersion = v
		for _, p := range pauses {
			if p.Name == v.Name || slices.Contains(v.Rails, corridor.Rail(p.Name)) {
				listed[i].PausedBy = append(listed[i].PausedBy, p)
			}
		}
	}
	return listed, pauses, nil
}

// Shown is a connection with its money.
type Shown struct {
	Listed
	// Test is the last test of the version that was stored last; nil if there was none.
	Test     *ports.RailTest
	Accounts []rail.Account
}

// Show returns one connection. It returns INVALID_INPUT if there is none with the name.
func (s *Service) Show(ctx context.Context, name string) (Shown, error) {
	listed, _, err := s.List(ctx)
	if err != nil {
		return Shown{}, err
	}
	i := slices.IndexFunc(listed, func(l Listed) bool { return l.Name == name })
	if i < 0 {
		return Shown{}, noConnection(name)
	}
	shown := Shown{Listed: listed[i]}
	tests, err := s.Connections.RailTests(ctx, name)
	if err != nil {
		return Shown{}, err
	}
	for n := range tests {
		if tests[n].Version == shown.Latest {
			shown.Test = &tests[n]
		}
	}
	shown.Accounts, err = s.Store.RailAccounts(ctx, name, s.Clock.Now())
	return shown, err
}

// Troubled returns the names of connections at which payments wait for money, and of those whose partner could not be asked for news the
// last time.
func (s *Service) Troubled(ctx context.Context) (unfunded, failing []string, err error) {
	listed, _, err := s.List(ctx)
	if err != nil {
		return nil, nil, err
	}
	feeds, err := s.Feeds.RailFeedStates(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, l := range listed {
		if slices.ContainsFunc(feeds, func(f ports.RailFeedState) bool { return f.Connection == l.Name && f.Failures > 0 }) {
			failing = append(failing, l.Name)
		}
		accounts, err := s.Store.RailAccounts(ctx, l.Name, s.Clock.Now())
		if err != nil {
			return nil, nil, err
		}
		if slices.ContainsFunc(accounts, func(a rail.Account) bool { return a.Waiting }) {
			unfunded = append(unfunded, l.Name)
		}
	}
	return unfunded, failing, nil
}

func noConnection(name string) error {
	return fault.New(fault.InvalidInput, "There is no connection %q. List them with: causeway rails list", name)
}

// Pause stops what a connection or a rail has not handed over, or resumes it. INVALID_INPUT: there is none with the name, or
// there is nothing to change.
func (s *Service) Pause(ctx context.Context, name string, paused bool, by Author) error {
	by, err := by.check()
	if err != nil {
		return err
	}
	listed, pauses, err := s.List(ctx)
	if err != nil {
		return err
	}
	isConnection := slices.ContainsFunc(listed, func(l Listed) bool { return l.Name == name })
	if !isConnection && !corridor.Rail(name).Known() {
		return fault.New(fault.InvalidInput, "%q is neither a connection nor a rail such as SEPA. List the connections with: causeway rails list",
			name)
	}
	if !paused && slices.ContainsFunc(pauses, func(p ports.RailPause) bool { return p.LostCommits != 0 }) {
		return fault.New(fault.InvalidInput, "The database has lost commits. See what is known, and review it: causeway recover")
	}
	if slices.ContainsFunc(pauses, func(p ports.RailPause) bool { return p.Name == name }) == paused {
		state := map[bool]string{true: "paused already", false: "not paused"}[paused]
		return fault.New(fault.InvalidInput, "%s is %s.", name, state)
	}
	now, kind := s.Clock.Now(), platform.OperatorResumedRail
	if paused {
		kind = platform.OperatorPausedRail
	}
	return s.Connections.SaveRailPause(ports.ForAllPlatforms(ctx), ports.RailPause{Name: name, Paused: paused, By: by.Actor, Person: by.Person,
		Note: by.Note, At: now}, platform.OperatorAction{ID: s.IDs.New(now), Kind: kind, Name: name, Actor: by.Actor, Person: by.Person, At: now,
		Changes: diff.Between(diff.Values{"isPaused": strconv.FormatBool(!paused)}, diff.Values{"isPaused": strconv.FormatBool(paused)})})
}

// Change is one entry of the history of a connection or rail.
type Change struct {
	// Version is set for a version of the connection, Pause for a pause or resumption, and Test for a test.
	Version *ports.RailConnectionVersion
	Pause   *ports.RailPause
	Test    *ports.RailTest
}

func (c Change) at() time.Time {
	switch {
	case c.Version != nil:
		return c.Version.SetAt
	case c.Pause != nil:
		return c.Pause.At
	}
	return c.Test.At
}

// History returns the changes of a connection or rail, oldest first. It returns INVALID_INPUT if there is none.
func (s *Service) History(ctx context.Context, name string) ([]Change, error) {
	versions, err := s.Connections.RailConnectionHistory(ctx, name)
	if err != nil {
		return nil, err
	}
	pauses, err := s.Connections.RailPauseHistory(ctx, name)
	if err != nil {
		return nil, err
	}
	tests, err := s.Connections.RailTests(ctx, name)
	if err != nil {
		return nil, err
	}
	var changes []Change
	for i := range versions {
		changes = append(changes, Change{Version: &versions[i]})
	}
	for i := range pauses {
		changes = append(changes, Change{Pause: &pauses[i]})
	}
	for i := range tests {
		changes = append(changes, Change{Test: &tests[i]})
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return a.at().Compare(b.at()) })
	if len(changes) == 0 && !corridor.Rail(name).Known() {
		return nil, noConnection(name)
	}
	return changes, nil
}
