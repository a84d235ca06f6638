// Package rails implements the operator's view of connections to partners: it lists, sets, tests and pauses them, decides
// about payments that wait and reports that could not be taken, and proves that the ledger holds what partners and chains say.
//
// Running processes read changes by themselves. app/internal/connections sends the payments.
package rails

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/rail"
	"causeway/ports"
)

// Config is what the use cases need.
type Config struct {
	Store       ports.Store
	Connections ports.RailConnectionStore
	// Balances, Proofs and Finance are for the proof.
	Balances ports.RailBalanceStore
	Proofs   ports.RailProofStore
	Finance  ports.Finance
	// Feeds and Statements have what partners reported and could not be taken or reconciled.
	Feeds      ports.RailFeedStore
	Statements ports.RailStatementStore
	// BankNotices has what is to be looked at in files of banks.
	BankNotices ports.BankNotices
	// Open returns the adapter of a connection; it checks the settings and calls no partner.
	Open  func(rail.Connection) (ports.ConnectedRail, error)
	Clock ports.Clock
	IDs   ports.IDs
}

// Service implements the use cases.
type Service struct{ Config }

// New returns a Service.
func New(c Config) *Service { return &Service{c} }

// Author is the operator who changes something, and why.
type Author struct{ Actor, Note string }

// check returns the author as it is recorded, or INVALID_INPUT.
func (a Author) check() (Author, error) {
	var bad []fault.Field
	actor, err := platform.ParseActor(a.Actor)
	for _, err := range []error{err, rail.CheckNote(a.Note)} {
		if f, ok := fault.As(err); ok {
			bad = append(bad, f.Fields...)
		}
	}
	if len(bad) > 0 {
		return a, fault.Invalid(bad...)
	}
	return Author{Actor: actor, Note: a.Note}, nil
}

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
	accounts, err := s.Store.RailAccounts(ctx, name, s.Clock.Now())
	return Shown{listed[i], accounts}, err
}

func noConnection(name string) error {
	return fault.New(fault.InvalidInput, "There is no connection %q. List them with: causeway rails list", name)
}

// Set stores the next version of a connection from its file. INVALID_INPUT lists every bad field.
func (s *Service) Set(ctx context.Context, name string, file []byte, by Author) (ports.RailConnectionVersion, error) {
	var none ports.RailConnectionVersion
	by, err := by.check()
	if err != nil {
		return none, err
	}
	c, err := ParseConnection(name, file)
	if err != nil {
		return none, err
	}
	if err := s.checkPlatforms(ctx, c); err != nil {
		return none, err
	}
	versions, err := s.Connections.RailConnections(ctx)
	if err != nil {
		return none, err
	}
	c.Version, c.SetAt = 1, s.Clock.Now()
	if i := slices.IndexFunc(versions, func(v ports.RailConnectionVersion) bool { return v.Name == name }); i >= 0 {
		if versions[i].Adapter != c.Adapter {
			return none, fault.Invalid(fault.Field{Field: "adapter", Message: fmt.Sprintf("must stay %s, because its payments are called about; use another name for the new connection", versions[i].Adapter)})
		}
		c.Version = versions[i].Version + 1
	} else if len(versions) >= rail.MaxConnections {
		return none, fault.New(fault.InvalidInput, "There are %d connections already, which is the maximum.", len(versions))
	}
	others := make([]rail.Connection, len(versions))
	for i, v := range versions {
		others[i] = v.Connection
	}
	if err := c.CheckShared(others); err != nil {
		return none, err
	}
	adapter, err := s.Open(c)
	if err != nil {
		return none, err
	}
	if err := adapter.Close(); err != nil {
		return none, err
	}
	v := ports.RailConnectionVersion{Connection: c, By: by.Actor, Note: by.Note}
	if err := s.Connections.SaveRailConnection(ctx, v); err != nil {
		return none, err
	}
	return v, s.addInstructions(ctx, c)
}

// instructionsDelay is after how long every process knows a connection.
const instructionsDelay = 20 * time.Second

// addInstructions enqueues the jobs that add funding instructions to the accounts that can be paid into over a connection.
func (s *Service) addInstructions(ctx context.Context, c rail.Connection) error {
	platforms := c.Platforms
	if len(platforms) == 0 {
		var err error
		if platforms, err = s.productionPlatforms(ports.ForAllPlatforms(ctx)); err != nil {
			return err
		}
	}
	now := s.Clock.Now()
	jobs := make([]ports.Job, len(platforms))
	for i, p := range platforms {
		jobs[i] = ports.Job{ID: s.IDs.New(now), Platform: p, Step: ports.StepOpenAccounts, Due: now.Add(instructionsDelay)}
	}
	return s.Store.Do(ports.ForAllPlatforms(ctx), func(ctx context.Context, tx ports.Tx) error { return tx.AddJobs(ctx, jobs) })
}

// checkPlatforms returns INVALID_INPUT if a connection names a platform that does not exist, or is a sandbox.
func (s *Service) checkPlatforms(ctx context.Context, c rail.Connection) error {
	var bad []fault.Field
	check := func(field string, id ident.Platform) error {
		found, err := s.Store.Platform(ctx, id)
		switch {
		case fault.IsFinal(err):
			bad = append(bad, fault.Field{Field: field, Message: fmt.Sprintf("is %s, which does not exist", id)})
			return nil
		case err == nil && found.Environment != platform.Production:
			bad = append(bad, fault.Field{Field: field, Message: fmt.Sprintf("is %s, a sandbox, whose rails are simulated", id)})
		}
		return err
	}
	for i, id := range c.Platforms {
		if err := check(fmt.Sprintf("platforms[%d]", i), id); err != nil {
			return err
		}
	}
	if !c.Unmatched.IsZero() && !slices.Contains(c.Platforms, c.Unmatched) {
		if err := check("unmatched", c.Unmatched); err != nil {
			return err
		}
	}
	if len(bad) > 0 {
		return fault.Invalid(bad...)
	}
	return nil
}

// Test opens a connection and returns what its adapter has checked, and the first thing that is wrong.
func (s *Service) Test(ctx context.Context, name string) (checked []string, err error) {
	shown, err := s.Show(ctx, name)
	if err != nil {
		return nil, err
	}
	adapter, err := s.Open(shown.Connection)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, adapter.Close()) }()
	return adapter.Test(ctx)
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
		return fault.New(fault.InvalidInput, "%q is neither a connection nor a rail such as SEPA. List the connections with: causeway rails list", name)
	}
	if slices.ContainsFunc(pauses, func(p ports.RailPause) bool { return p.Name == name }) == paused {
		state := map[bool]string{true: "paused already", false: "not paused"}[paused]
		return fault.New(fault.InvalidInput, "%s is %s.", name, state)
	}
	return s.Connections.SaveRailPause(ctx, ports.RailPause{Name: name, Paused: paused, By: by.Actor, Note: by.Note, At: s.Clock.Now()})
}

// Change is one entry of the history of a connection or rail.
type Change struct {
	// Version is set for a version of the connection, and Pause for a pause or resumption.
	Version *ports.RailConnectionVersion
	Pause   *ports.RailPause
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
	var changes []Change
	for i := range versions {
		for len(pauses) > 0 && pauses[0].At.Before(versions[i].SetAt) {
			changes, pauses = append(changes, Change{Pause: &pauses[0]}), pauses[1:]
		}
		changes = append(changes, Change{Version: &versions[i]})
	}
	for i := range pauses {
		changes = append(changes, Change{Pause: &pauses[i]})
	}
	if len(changes) == 0 && !corridor.Rail(name).Known() {
		return nil, noConnection(name)
	}
	return changes, nil
}

// SetBalance sets the balance of a connection whose partner reports none.
func (s *Service) SetBalance(ctx context.Context, b ports.OpeningBalance) error {
	by, err := Author{b.Actor, b.Note}.check()
	if err != nil {
		return err
	}
	shown, err := s.Show(ctx, b.Connection)
	if err != nil {
		return err
	}
	if !slices.Contains(shown.Currencies, b.Amount.Currency) {
		return fault.Invalid(fault.Field{Field: "currency", Message: fmt.Sprintf("must be one that %s carries", b.Connection)})
	}
	b.Actor, b.Note, b.At = by.Actor, by.Note, s.Clock.Now()
	return s.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error { return tx.SaveOpeningBalance(ctx, b) })
}
