package rails

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"causeway/app/internal/uow"
	"causeway/core/diff"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// NotWorking is the error of a connection whose test has failed.
type NotWorking struct {
	Name    string
	Checked []string // what was found to be right before
	Err     error
}

func (e *NotWorking) Error() string { return fmt.Sprintf("%s does not work: %v", e.Name, e.Err) }

func (e *NotWorking) Unwrap() error { return e.Err }

// Set stores the next version of a connection from its file, after a test of it, or proposes that. If the test fails, nothing is
// changed, and the error is a NotWorking. Untested stores it without a test: payments take it, in place of the version before, once Test
// has passed. A change of other fields than adapters work with needs no test. It returns what the test has checked. INVALID_INPUT lists
// every bad field.
func (s *Service) Set(ctx context.Context, name string, file []byte, by Author,
	untested bool) (done proposal.Outcome[ports.RailConnectionVersion], checked []string, err error) {
	made, err := s.change(ctx, operationSet, change{Connection: name, File: file, Untested: untested}, by)
	done.Proposal = made.Proposal
	if made.Done.version != nil {
		done.Done = *made.Done.version
	}
	if made.Done.test != nil {
		checked = made.Done.test.Checked
	}
	return done, checked, err
}

// planVersion prepares the version of a file.
func (s *Service) planVersion(ctx context.Context, of change, by Author) (p plan, err error) {
	c, err := ParseConnection(of.Connection, of.File)
	if err != nil {
		return p, err
	}
	if err := s.checkPlatforms(ctx, c); err != nil {
		return p, err
	}
	if p.seen, err = s.Connections.RailConnections(ctx); err != nil {
		return p, err
	}
	history, err := s.Connections.RailConnectionHistory(ctx, c.Name)
	if err != nil {
		return p, err
	}
	p.serves = append(p.serves, c)
	if n := len(history); n > 0 {
		if history[n-1].Adapter != c.Adapter {
			return p, fault.Invalid(fault.Field{Field: "adapter", Message: fmt.Sprintf("must stay %s, because its payments are called about; "+
				"use another name for the new connection", history[n-1].Adapter)})
		}
		p.after = history[n-1].Version
		p.serves = append(p.serves, history[n-1].Connection)
	}
	if p.changes, err = changesOf(history, c); err != nil {
		return p, err
	}
	c.Version, c.SetAt = p.after+1, s.Clock.Now()
	adapter, err := s.open(&c)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, adapter.Close()) }()
	if err := checkShared(c, p.seen); err != nil {
		return p, err
	}
	inForce, known := findConnection(p.seen, c.Name)
	if known {
		p.serves = append(p.serves, inForce.Connection)
	}
	if err := s.checkWallets(ctx, c, p.seen); err != nil {
		return p, err
	}
	test := &ports.RailTest{Connection: c.Name, Version: c.Version, Passed: true, At: c.SetAt}
	switch {
	case known && !inForce.Untested && !inForce.Retired && !c.NeedsTest(inForce.Connection):
		test.Checked = []string{fmt.Sprintf("what version %d was tested for has not changed", inForce.Version)}
	case of.Untested:
		test = nil
	default:
		if test.Checked, err = adapter.Test(ctx); err != nil {
			return p, &NotWorking{c.Name, test.Checked, err}
		}
	}
	if test != nil {
		if p.jobs, err = s.instructionJobs(ctx, c); err != nil {
			return p, err
		}
	}
	p.test, p.version = test, &ports.RailConnectionVersion{Connection: c, Latest: c.Version, By: by.Actor, Person: by.Person, Note: by.Note}
	p.version.Untested = test == nil
	return p, nil
}

// checkWallets returns INVALID_INPUT if a connection gives up the embedded wallets while payments of them are open.
func (s *Service) checkWallets(ctx context.Context, c rail.Connection, all []ports.RailConnectionVersion) error {
	inForce, known := findConnection(all, c.Name)
	if !known || inForce.Untested && !inForce.Retired || !inForce.IsOfWallets() || c.IsOfWallets() {
		return nil
	}
	open, err := s.openOfWallets(ctx, inForce.Connection)
	if err != nil || len(open) == 0 {
		return err
	}
	for i, o := range open {
		open[i] = fault.Field{Field: "currencies", Message: fmt.Sprintf("must have %s: %s %s", money.USDB, o.Field, o.Message)}
	}
	return fault.Invalid(open...)
}

// changesOf returns what a version changes of the latest one, if there is one.
func changesOf(history []ports.RailConnectionVersion, c rail.Connection) ([]diff.Field, error) {
	var before []byte
	if n := len(history); n > 0 && !history[n-1].Deleted {
		var err error
		if before, err = File(history[n-1].Connection); err != nil {
			return nil, err
		}
	}
	after, err := File(c)
	return diff.Between(diff.Of(before), diff.Of(after)), err
}

func stateOf(v ports.RailConnectionVersion) string {
	switch {
	case v.Deleted:
		return "deleted"
	case v.Retired:
		return "retired"
	}
	return "open"
}

func findConnection(versions []ports.RailConnectionVersion, name string) (ports.RailConnectionVersion, bool) {
	i := slices.IndexFunc(versions, func(v ports.RailConnectionVersion) bool { return v.Name == name })
	if i < 0 {
		return ports.RailConnectionVersion{}, false
	}
	return versions[i], true
}

// open opens the adapter of a connection, and asks it what no other connection may work with.
func (s *Service) open(c *rail.Connection) (ports.ConnectedRail, error) {
	adapter, err := s.Open(*c)
	if err != nil {
		return nil, err
	}
	c.Exclusive = []string{}
	if exclusive, some := adapter.(ports.ExclusiveRail); some {
		c.Exclusive = exclusive.Exclusive()
	}
	return adapter, nil
}

// checkShared returns INVALID_INPUT if a connection works with what another one has.
func checkShared(c rail.Connection, all []ports.RailConnectionVersion) error {
	var others []rail.Connection
	for _, v := range all {
		if v.Adapter == c.Adapter && v.Name != c.Name {
			others = append(others, v.Connection)
		}
	}
	return c.CheckShared(others)
}

// instructionsDelay is after how long every process knows a connection.
const instructionsDelay = 20 * time.Second

// instructionJobs returns the jobs that add funding instructions to the accounts that can be paid into over a connection. They are
// stored in the commit from which on payments can take it.
func (s *Service) instructionJobs(ctx context.Context, c rail.Connection) ([]ports.Job, error) {
	platforms := c.Platforms
	if len(platforms) == 0 {
		var err error
		if platforms, err = s.productionPlatforms(ports.ForAllPlatforms(ctx)); err != nil {
			return nil, err
		}
	}
	now := s.Clock.Now()
	jobs := make([]ports.Job, len(platforms))
	for i, p := range platforms {
		jobs[i] = ports.Job{ID: s.IDs.New(now), Platform: p, Step: ports.StepOpenAccounts, Due: now.Add(instructionsDelay)}
	}
	return jobs, nil
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

// Test tests the latest version of a connection, and stores the result; from the first test that passes, payments take
// the version. It returns the version with what its adapter has checked, and the first thing that is wrong as a NotWorking.
func (s *Service) Test(ctx context.Context, name string) (v ports.RailConnectionVersion, checked []string, err error) {
	seen, err := s.Connections.RailConnections(ctx)
	if err != nil {
		return v, nil, err
	}
	history, err := s.Connections.RailConnectionHistory(ctx, name)
	if err != nil {
		return v, nil, err
	}
	if len(history) == 0 || history[len(history)-1].Deleted {
		return v, nil, noConnection(name)
	}
	v = history[len(history)-1]
	test := ports.RailTest{Connection: name, Version: v.Version, At: s.Clock.Now()}
	failure := s.test(ctx, v.Connection, seen, &test)
	if test.Passed = failure == nil; !test.Passed {
		test.Problem, failure = failure.Error(), &NotWorking{name, test.Checked, failure}
	}
	ctx = context.WithoutCancel(ctx)
	var jobs []ports.Job
	if failure == nil && v.Untested && !v.Retired {
		if jobs, err = s.instructionJobs(ctx, v.Connection); err != nil {
			return v, test.Checked, err
		}
	}
	return v, test.Checked, errors.Join(failure, s.Connections.SaveRailTest(ctx, test, seen, jobs))
}

func (s *Service) test(ctx context.Context, c rail.Connection, seen []ports.RailConnectionVersion, test *ports.RailTest) (err error) {
	adapter, err := s.open(&c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, adapter.Close()) }()
	if err := checkShared(c, seen); err != nil {
		return err
	}
	if err := s.checkWallets(ctx, c, seen); err != nil {
		return err
	}
	test.Checked, err = adapter.Test(ctx)
	return err
}

// Retire stores a version of a connection that takes no new payments, or proposes that. What was handed over is still asked about,
// and what it reports is still read, until it is deleted.
func (s *Service) Retire(ctx context.Context, name string, by Author) (proposal.Outcome[ports.RailConnectionVersion], error) {
	return s.end(ctx, operationRetire, name, by)
}

func (s *Service) retire(_ context.Context, v *ports.RailConnectionVersion) error {
	if v.Retired {
		return fault.New(fault.InvalidInput, "%s is retired already, since %s.", v.Name, v.SetAt.UTC().Format("2006-01-02 15:04"))
	}
	v.Retired = true
	return nil
}

// Delete ends a connection that was never tested and has carried nothing, or that is retired and settled, or proposes that. What
// it has carried, and its versions, stay.
func (s *Service) Delete(ctx context.Context, name string, by Author) (proposal.Outcome[ports.RailConnectionVersion], error) {
	return s.end(ctx, operationDelete, name, by)
}

func (s *Service) delete(ctx context.Context, v *ports.RailConnectionVersion) error {
	open, err := s.openOf(ctx, *v)
	if err != nil {
		return err
	}
	if len(open) > 0 {
		f := fault.New(fault.InvalidInput, "%s cannot be deleted yet.", v.Name)
		f.Fields = open
		return f
	}
	v.Deleted = true
	return nil
}

func (s *Service) end(ctx context.Context, operation, name string,
	by Author) (done proposal.Outcome[ports.RailConnectionVersion], err error) {
	made, err := s.change(ctx, operation, change{Connection: name}, by)
	done.Proposal = made.Proposal
	if made.Done.version != nil {
		done.Done = *made.Done.version
	}
	return done, err
}

// planEnd prepares the version that change makes of the version in force.
func (s *Service) planEnd(ctx context.Context, of change, by Author,
	change func(context.Context, *ports.RailConnectionVersion) error) (p plan, err error) {
	if p.seen, err = s.Connections.RailConnections(ctx); err != nil {
		return p, err
	}
	v, known := findConnection(p.seen, of.Connection)
	if !known {
		return p, noConnection(of.Connection)
	}
	before := v
	if err := change(ctx, &v); err != nil {
		return p, err
	}
	p.after, p.serves = v.Latest, []rail.Connection{v.Connection}
	p.changes = diff.Between(diff.Values{"state": stateOf(before)}, diff.Values{"state": stateOf(v)})
	v.Version = v.Latest + 1
	v.Latest, v.SetAt, v.By, v.Person, v.Note = v.Version, s.Clock.Now(), by.Actor, by.Person, by.Note
	p.version = &v
	return p, nil
}

// openOf says what has to end before a connection is deleted.
func (s *Service) openOf(ctx context.Context, v ports.RailConnectionVersion) (open []fault.Field, err error) {
	add := func(field, format string, args ...any) {
		open = append(open, fault.Field{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	accounts, err := s.Store.RailAccounts(ctx, v.Name, s.Clock.Now())
	if err != nil {
		return nil, err
	}
	switch {
	case v.Untested && !v.Retired && len(accounts) == 0: // no payment has ever taken it
	case !v.Retired:
		add("state", "must be retired, because payments take it. Retire it first with: causeway rails retire %s", v.Name)
	case s.Clock.Now().Sub(v.SetAt) < instructionsDelay:
		add("state", "was retired just now, and not every server knows it. Repeat this in %s", instructionsDelay)
	}
	for _, state := range []rail.State{rail.InReview, rail.Queued, rail.HandedOver, rail.Sent} {
		found, err := s.Store.WaitingRailPayments(ctx, state, v.Name, 1)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			add("payments", "of it are still %s. List them with: causeway payouts list --connection %s", state, v.Name)
		}
	}
	if v.IsOfWallets() && v.Retired {
		ofWallets, err := s.openOfWallets(ctx, v.Connection)
		if err != nil {
			return nil, err
		}
		open = append(open, ofWallets...)
	}
	kept, err := s.Feeds.RailFeedItems(ctx, v.Name, 1)
	if err != nil {
		return nil, err
	}
	if len(kept) > 0 {
		add("items", "that it has reported could not be taken. List them with: causeway rails inbox list --connection %s", v.Name)
	}
	for _, a := range accounts {
		switch holds, known := a.Available(); {
		case !v.Retired: // its balance at the end is not known yet
		case !known || a.BalanceAt.Before(v.SetAt):
			add("balance", "in %s is not known since it was retired. Wait for the next report, or set the last one with: causeway rails balance "+
				"%s --set 0 --currency %s", a.Currency, v.Name, a.Currency)
		case holds.Minor != 0:
			add("balance", "must be 0, and it holds %s. Move the money to another connection first", holds)
		}
	}
	return open, nil
}

// openOfWallets says which payments of embedded wallets a connection carries have to end before another connection carries them: that one
// would not know what this one has sent.
func (s *Service) openOfWallets(ctx context.Context, c rail.Connection) (open []fault.Field, err error) {
	add := func(field, format string, args ...any) {
		open = append(open, fault.Field{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	adapter, err := s.Open(c)
	if err != nil {
		add("settings", "cannot be used, so that nobody knows what was sent over it; restore them: %v", err)
		return open, nil
	}
	defer func() { err = errors.Join(err, adapter.Close()) }()
	if unsettled, some := adapter.(ports.UnsettledRail); some {
		what, err := unsettled.Unsettled(ctx)
		if err != nil {
			return nil, err
		}
		if what != "" {
			add("payments", "of wallets are not settled: %s", what)
		}
	}
	platforms := c.Platforms
	if len(platforms) == 0 {
		if platforms, err = s.productionPlatforms(ports.ForAllPlatforms(ctx)); err != nil {
			return nil, err
		}
	}
	for _, p := range platforms {
		step, err := s.openWalletStep(ports.ForPlatform(ctx, p), p)
		if err != nil {
			return nil, err
		}
		if step != "" {
			add("jobs", "about wallets of %s are open. List them with: causeway jobs list --platform %s --step %s", p, p, step)
			break
		}
	}
	return open, nil
}

// maxOpenJobs is how many jobs of a step and platform are looked through.
const maxOpenJobs = 1000

// openWalletStep returns the step of a job of a platform that moves coins of wallets on their chain; empty if there is none.
func (s *Service) openWalletStep(ctx context.Context, p ident.Platform) (transaction.Step, error) {
	for _, step := range transaction.WalletSteps() {
		listed, err := s.Store.ListJobs(ctx, ports.JobFilter{Platform: p, Step: step, Limit: maxOpenJobs})
		if err != nil || len(listed) == maxOpenJobs { // the next ones may be about wallets
			return step, err
		}
		jobs := make([]ports.Job, len(listed))
		for i, j := range listed {
			jobs[i] = j.Job
		}
		subjects, err := s.Store.TransactionsByKey(ctx, uow.TransactionKeys(jobs))
		if err != nil {
			return step, err
		}
		for _, t := range subjects {
			if step.MovesCoins(t) {
				return step, nil
			}
		}
	}
	return transaction.NoStep, nil
}
