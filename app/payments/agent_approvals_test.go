package payments_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/app/internal/prices"
	"causeway/app/payments"
	"causeway/core/account"
	"causeway/core/agent"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/ports"
)

// waiting asks for a transfer out of 100 dollars that needs approval.
func (e *agentEnv) waiting() payments.AgentAction {
	e.t.Helper()
	action, err := e.AgentTransferOut(e.t.Context(), e.caller, e.out(100_00), nil)
	if err != nil || action.Status != agent.ActionPending {
		e.t.Fatalf("%+v, %v", action, err)
	}
	return action
}

func (e *agentEnv) approve(id ident.AgentAction) (payments.AgentAction, error) {
	return e.ApproveAgentAction(e.t.Context(), e.Admin, e.agent.ID, id, nil)
}

func TestApprovalReasons_OfEachKind(t *testing.T) {
	t.Parallel()
	// Why an action waits is why the policy asked for its approval, also after that: the quote of one has a payment before.
	for kind, pay := range agentPayments {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			e := newAgentEnv(t, newIdleEnv(t), requireApproval)
			action, err := pay(e, t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			check := func(when string) {
				reasons, err := e.Store.ApprovalReasons(t.Context(), e.Platform.ID, []ident.AgentAction{action.ID, {}})
				if err != nil || len(reasons) != 1 || len(reasons[action.ID]) != 1 || reasons[action.ID][0].Code != agent.ModeRequiresApproval {
					t.Errorf("%s: %+v, %v", when, reasons, err)
				}
			}
			check("while it waits")
			if _, err := e.approve(action.ID); err != nil {
				t.Fatal(err)
			}
			check("after it was approved")
		})
	}
}

func TestApproveAgentAction_PausedAgent(t *testing.T) {
	t.Parallel()
	// Nothing is decided, counted or recorded while the agent is paused. The action waits, and is approved after the agent
	// was resumed.
	e := newAgentEnv(t, newIdleEnv(t), requireApproval)
	action := e.waiting()
	e.change(func(a *agent.Agent) { a.Paused = true })
	_, before := e.trail()

	_, err := e.approve(action.ID)

	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "paused") {
		t.Fatalf("approved while paused: %v", err)
	}
	if read, err := e.AgentAction(t.Context(), e.Platform.ID, e.agent.ID, action.ID); err != nil || read.Status != agent.ActionPending {
		t.Errorf("%+v, %v", read.Action, err)
	}
	if _, lines := e.trail(); len(lines) != len(before) {
		t.Errorf("recorded %q", lines[len(before):])
	}
	e.wantUsage(0, 0)
	e.change(func(a *agent.Agent) { a.Paused = false })
	if approved, err := e.approve(action.ID); err != nil || approved.Status != agent.ActionApproved {
		t.Errorf("resumed: %+v, %v", approved.Action, err)
	}
}

func TestApproveAgentAction_EvaluatedAgain(t *testing.T) {
	t.Parallel()
	// What cannot run any more when it is approved has failed, and says why; nothing moves and nothing is counted.
	for name, c := range map[string]struct {
		change func(*agentEnv)
		want   fault.Code
		why    string
	}{
		"permission": {func(e *agentEnv) {
			e.change(func(a *agent.Agent) { a.Policy.Permissions = []agent.Permission{agent.CreateQuotes} })
		}, fault.Forbidden, "CREATE_TRANSFERS"},
		"account": {func(e *agentEnv) {
			e.change(func(a *agent.Agent) { a.Policy.AllowedAccounts = []ident.InternalAccount{} })
		}, fault.Forbidden, "account"},
		"limit": {func(e *agentEnv) { e.change(func(a *agent.Agent) { a.Policy.Limits.PerTransaction = 99_99 }) }, fault.Forbidden, "99.99 USD"},
		"spent meanwhile": {func(e *agentEnv) {
			e.change(func(a *agent.Agent) { a.Policy.Limits.Daily = 199_99 })
			if approved, err := e.approve(e.waiting().ID); err != nil || approved.Status != agent.ActionApproved {
				e.t.Fatalf("%+v, %v", approved, err)
			}
		}, fault.Forbidden, "daily limit"},
		"bank account deleted": {func(e *agentEnv) {
			e.Do(func(ctx context.Context, tx *postgres.Unit) error {
				return tx.DeleteExternalAccount(ctx, e.Platform.ID, e.bank.ID, e.Clock.Now())
			})
		}, fault.ExternalAccountNotFound, "no external account"},
		"funds": {func(e *agentEnv) {
			out := e.out(9_950_00)
			out.Platform = e.Platform.ID
			if _, err := e.TransferOut(e.t.Context(), out, nil); err != nil {
				e.t.Fatal(err)
			}
		}, fault.InsufficientBalance, "100.00 USD is needed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newAgentEnv(t, newIdleEnv(t), requireApproval)
			action := e.waiting()
			c.change(e)
			_, before := e.trail()

			failed, err := e.approve(action.ID)

			if err != nil || failed.Status != agent.ActionFailed || failed.Transaction != nil || failed.Failure == nil ||
				failed.Failure.Code != c.want || !strings.Contains(failed.Failure.Message, c.why) || failed.DecidedBy != e.Admin.Token {
				t.Fatalf("%+v, failure %+v, %v", failed.Action, failed.Failure, err)
			}
			if read, err := e.AgentAction(t.Context(), e.Platform.ID, e.agent.ID, action.ID); err != nil || read.Failure == nil ||
				*read.Failure != *failed.Failure {
				t.Errorf("read %+v, %v", read.Action, err)
			}
			entries, lines := e.trail()
			last, want := entries[len(entries)-1], "APPROVE_ACTION REFUSED"
			switch {
			case name == "funds":
				want = "APPROVE_ACTION ALLOWED INSUFFICIENT_BALANCE"
			case c.want != fault.Forbidden:
				want += " " + string(c.want)
			}
			if len(lines) != len(before)+1 || lines[len(before)] != want || (len(last.Reasons) > 0) != (c.want == fault.Forbidden) ||
				last.Action != action.ID || last.Amount != dollarsOf(100_00) {
				t.Errorf("recorded %q, want %q, last %+v", lines[len(before):], want, last)
			}
			if name == "spent meanwhile" {
				e.wantUsage(1, 100_00)
			} else {
				e.wantUsage(0, 0)
			}
		})
	}
}

func TestApproveAgentAction_ExpiredQuote(t *testing.T) {
	t.Parallel()
	// A quote that expired before its execution was approved has failed, and the failure says so. So has one that was
	// executed without approval meanwhile.
	e := newAgentEnv(t, newIdleEnv(t), requireApproval)
	execute := func(q quote.Quote) payments.AgentAction {
		t.Helper()
		action, err := e.ExecuteAgentQuote(t.Context(), e.caller, q.ID, payments.Signature{}, nil)
		if err != nil || action.Quote.Quote.ID != q.ID || action.Quote.Status != quote.Pending {
			t.Fatalf("%+v, %v", action, err)
		}
		return action
	}
	q := e.agentQuote(100_00)
	waiting, expired := execute(q), execute(e.agentQuote(50_00))
	e.change(func(a *agent.Agent) { a.Policy.DefaultMode = agent.Auto })

	if approved, err := e.ExecuteAgentQuote(t.Context(), e.caller, q.ID, payments.Signature{}, nil); err != nil || approved.ID == waiting.ID ||
		approved.Status != agent.ActionApproved || approved.Quote.Status != quote.Processing || approved.Transaction.ID != q.Transaction {
		t.Errorf("%+v, %v", approved, err)
	}
	if again, err := e.approve(waiting.ID); err != nil || again.Status != agent.ActionFailed ||
		again.Failure.Code != fault.QuoteAlreadyExecuted {
		t.Errorf("%+v, %v", again.Action, err)
	}
	e.Clock.Advance(time.Hour)
	if late, err := e.approve(expired.ID); err != nil || late.Status != agent.ActionFailed || late.Failure.Code != fault.QuoteExpired ||
		!strings.Contains(late.Failure.Message, "expired") {
		t.Errorf("%+v, %v", late.Action, err)
	}
	e.wantUsage(1, 100_00)
}

func TestExecuteAgentQuote_WaitsOnce(t *testing.T) {
	t.Parallel()
	// However often an agent asks to execute a quote, one action waits for approval, and one event is sent.
	// After a rejection another one can.
	e := newAgentEnv(t, newIdleEnv(t), requireApproval)
	q := e.agentQuote(100_00)
	execute := func() payments.AgentAction {
		t.Helper()
		action, err := e.ExecuteAgentQuote(t.Context(), e.caller, q.ID, payments.Signature{}, nil)
		if err != nil || action.Status != agent.ActionPending || action.Quote.Quote.ID != q.ID {
			t.Errorf("%+v, %v", action, err)
		}
		return action
	}
	actions := make([]payments.AgentAction, 8)
	var running sync.WaitGroup
	for i := range actions {
		running.Go(func() { actions[i] = execute() })
	}
	running.Wait()
	for _, action := range actions {
		if action.ID != actions[0].ID {
			t.Errorf("%s and %s wait", action.ID, actions[0].ID)
		}
	}
	page, err := e.AgentActions(t.Context(), e.Platform.ID, ports.AgentActionFilter{Agent: e.agent.ID, Paging: ports.Paging{Limit: 10}})
	if err != nil || len(page.Items) != 1 {
		t.Errorf("%+v, %v", page, err)
	}
	if entries, _ := e.trail(); len(entries) != 1+len(actions) || entries[len(actions)].Action != actions[0].ID {
		t.Errorf("the trail has %+v", entries)
	}

	if _, err := e.RejectAgentAction(t.Context(), e.Admin, e.agent.ID, actions[0].ID, "", nil); err != nil {
		t.Fatal(err)
	}
	if next := execute(); next.ID == actions[0].ID {
		t.Error("a rejected action waits again")
	}
}

func TestExecuteAgentQuote_WaitsAgainAfterFailedApproval(t *testing.T) {
	t.Parallel()
	// The approval of a quote fails, and the same batch has the next request to execute it: that waits as another
	// action.
	e := newAgentEnv(t, newIdleEnv(t), requireApproval)
	e.from = e.account(e.Customer.ID, "EUR", 1_00)
	q := e.agentQuote(100_00)
	first, err := e.ExecuteAgentQuote(t.Context(), e.caller, q.ID, payments.Signature{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	queued := &waitingCommands{}
	service := newService(e.Env, e.Store, nil, func(c *payments.Config) { c.Batches.Observer = queued })
	var running sync.WaitGroup
	awaitQueued := func(n int64) {
		for queued.Load() < n {
			runtime.Gosched()
		}
	}

	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		if _, err := tx.LockAgents(ctx, e.Platform.ID, []ident.Agent{e.agent.ID}, "2026-03"); err != nil {
			return err
		}
		running.Go(func() { // the batch that the others wait for
			if _, err := service.AgentTransferOut(t.Context(), e.caller, e.out(1), nil); !fault.Is(err, fault.InvalidInput) {
				t.Error(err)
			}
		})
		e.AwaitLockWait()
		running.Go(func() {
			if failed, err := service.ApproveAgentAction(t.Context(), e.Admin, e.agent.ID, first.ID, nil); err != nil || failed.Failure == nil ||
				failed.Failure.Code != fault.InsufficientBalance {
				t.Errorf("%+v, %v", failed.Action, err)
			}
		})
		awaitQueued(1)
		running.Go(func() {
			if next, err := service.ExecuteAgentQuote(t.Context(), e.caller, q.ID, payments.Signature{}, nil); err != nil || next.ID == first.ID ||
				next.Status != agent.ActionPending {
				t.Errorf("%+v, %v", next.Action, err)
			}
		})
		awaitQueued(2)
		return nil
	})
	running.Wait()

	page, err := e.AgentActions(t.Context(), e.Platform.ID, ports.AgentActionFilter{Status: agent.ActionPending,
		Paging: ports.Paging{Limit: 10}})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID == first.ID {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestAgentPayment_OnlySoManyWait(t *testing.T) {
	t.Parallel()
	// So many actions of an agent can wait and no more, also if the last are asked for at once, in two processes. What
	// waits already can be asked for again, and once the platform has decided one of them there is room for another.
	e := newAgentEnv(t, newIdleEnv(t), requireApproval)
	q := e.agentQuote(100_00)
	first, err := e.ExecuteAgentQuote(t.Context(), e.caller, q.ID, payments.Signature{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		actions := make([]agent.Action, agent.MaxWaiting-2)
		transfer := agent.Transfer{Internal: e.from.ID, External: e.bank.ID, Amount: dollarsOf(1)}
		for i := range actions {
			actions[i] = agent.NewTransferAction(ident.NewAgentAction(e.IDs.New, apptest.Noon), e.agent, "", agent.TransferOut,
				transfer, apptest.Noon)
		}
		return tx.CreateAgentActions(ctx, actions)
	})
	_, before := e.trail()
	services := []*payments.Service{e.Service, newService(e.Env, e.Store, nil)}
	var refused atomic.Int64
	var running sync.WaitGroup
	for i := range 10 {
		running.Go(func() {
			if _, err := services[i%2].AgentTransferOut(t.Context(), e.caller, e.out(1_00), nil); fault.Is(err, fault.RateLimited) {
				refused.Add(1)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()

	if n := refused.Load(); n != 9 {
		t.Errorf("%d of 10 requests are refused", n)
	}
	if _, after := e.trail(); len(after) != len(before)+1 {
		t.Errorf("recorded %q", after[len(before):])
	}
	if again, err := e.ExecuteAgentQuote(t.Context(), e.caller, q.ID, payments.Signature{}, nil); err != nil || again.ID != first.ID {
		t.Errorf("%+v, %v", again.Action, err)
	}
	if preview, err := e.PreviewAgentPayment(t.Context(), e.caller, payments.AgentPaymentRequest{Quote: q.ID}); err != nil ||
		preview.Decision != agent.NeedsApproval {
		t.Errorf("%+v, %v", preview, err)
	}
	out := e.out(1_00)
	_, previewed := e.PreviewAgentPayment(t.Context(), e.caller, payments.AgentPaymentRequest{Out: &out})
	apptest.WantFault(t, "previewed", previewed, fault.RateLimited)
	if _, err := e.approve(first.ID); err != nil {
		t.Error(err)
	}
	if _, err := e.AgentTransferOut(t.Context(), e.caller, e.out(1_00), nil); err != nil {
		t.Error(err)
	}
	_, full := e.AgentTransferOut(t.Context(), e.caller, e.out(1_00), nil)
	apptest.WantFault(t, "full again", full, fault.RateLimited)
	e.change(func(a *agent.Agent) { a.Policy.DefaultMode = agent.Auto })
	if _, err := e.AgentTransferOut(t.Context(), e.caller, e.out(1_00), nil); err != nil {
		t.Errorf("without approval: %v", err)
	}
}

func TestRejectAgentAction(t *testing.T) {
	t.Parallel()
	// A rejected action says why, and never runs. Actions of other agents and platforms are not found.
	e := newAgentEnv(t, newIdleEnv(t), requireApproval)
	action := e.waiting()
	other, _ := e.newAgent(e.Customer.ID)
	stranger := e.NewPrincipal(e.NewPlatform())
	for name, call := range map[string]func() error{
		"approve by another agent": func() error {
			_, err := e.ApproveAgentAction(t.Context(), e.Admin, other.ID, action.ID, nil)
			return err
		},
		"reject by another agent": func() error {
			_, err := e.RejectAgentAction(t.Context(), e.Admin, other.ID, action.ID, "", nil)
			return err
		},
		"approve by another platform": func() error {
			_, err := e.ApproveAgentAction(t.Context(), stranger, e.agent.ID, action.ID, nil)
			return err
		},
		"reject by another platform": func() error {
			_, err := e.RejectAgentAction(t.Context(), stranger, e.agent.ID, action.ID, "", nil)
			return err
		},
		"read by another agent": func() error { _, err := e.AgentAction(t.Context(), e.Platform.ID, other.ID, action.ID); return err },
	} {
		apptest.WantFault(t, name, call(), fault.AgentActionNotFound)
	}
	_, long := e.RejectAgentAction(t.Context(), e.Admin, e.agent.ID, action.ID, strings.Repeat("a", 501), nil)
	apptest.WantFault(t, "a long reason", long, fault.InvalidInput, "reason")
	request := apptest.IdempotentRequest(e.Admin, "key", nil)

	rejected, err := e.RejectAgentAction(t.Context(), e.Admin, e.agent.ID, action.ID, "Too expensive.", request)

	if err != nil || rejected.Status != agent.ActionRejected || rejected.RejectionReason != "Too expensive." ||
		rejected.DecidedBy != e.Admin.Token || rejected.Transaction != nil {
		t.Fatalf("%+v, %v", rejected, err)
	}
	_, approved := e.approve(action.ID)
	apptest.WantFault(t, "approved", approved, fault.ActionNotPendingApproval)
	entries, lines := e.trail()
	if last := entries[len(entries)-1]; lines[len(lines)-1] != "REJECT_ACTION REFUSED" || last.Token != e.Admin.Token ||
		last.Action != action.ID || last.Amount != dollarsOf(100_00) {
		t.Errorf("the trail is %q", lines)
	}
	e.wantUsage(0, 0)
}

func TestApproveAgentAction_Races(t *testing.T) {
	t.Parallel()
	// Of approvals and rejections of one action at the same time, in two processes, one wins. A policy that is
	// changed meanwhile holds, or the payment was counted before.
	for name, rival := range map[string]func(*agentEnv, *payments.Service, ident.AgentAction) error{
		"approve": func(e *agentEnv, s *payments.Service, id ident.AgentAction) error {
			_, err := s.ApproveAgentAction(e.t.Context(), e.Admin, e.agent.ID, id, nil)
			return err
		},
		"reject": func(e *agentEnv, s *payments.Service, id ident.AgentAction) error {
			_, err := s.RejectAgentAction(e.t.Context(), e.Admin, e.agent.ID, id, "", nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newAgentEnv(t, newIdleEnv(t), requireApproval)
			other := newService(e.Env, e.Store, nil)
			paid := int64(0)
			for range 10 {
				action := e.waiting()
				var errs [2]error
				var both sync.WaitGroup
				both.Go(func() { _, errs[0] = e.approve(action.ID) })
				both.Go(func() { errs[1] = rival(e, other, action.ID) })
				both.Wait()

				lost := errs[0]
				if lost == nil {
					lost = errs[1]
				}
				if (errs[0] == nil) == (errs[1] == nil) || !fault.Is(lost, fault.ActionNotPendingApproval) {
					t.Errorf("the results are %v", errs)
				}
				read, err := e.AgentAction(t.Context(), e.Platform.ID, e.agent.ID, action.ID)
				if err != nil {
					t.Fatal(err)
				}
				if read.Status == agent.ActionApproved {
					paid++
				}
				if (read.Status == agent.ActionApproved) != (read.Transaction != nil) || name == "approve" && read.Status != agent.ActionApproved ||
					errs[0] == nil && read.Status != agent.ActionApproved {
					t.Errorf("%+v after %v", read.Action, errs)
				}
			}
			e.wantUsage(paid, paid*100_00)
		})
	}
}

func TestApproveAgentAction_PolicyChangesMeanwhile(t *testing.T) {
	t.Parallel()
	// An approval that waits for a change of the policy is decided on the new one.
	e := newAgentEnv(t, newIdleEnv(t), requireApproval)
	action := e.waiting()
	var approved payments.AgentAction
	var err error
	var approving sync.WaitGroup
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		locked, err2 := tx.LockAgent(ctx, e.Platform.ID, e.agent.ID)
		if err2 != nil {
			return err2
		}
		approving.Go(func() { approved, err = e.approve(action.ID) })
		e.AwaitLockWait()
		locked.Policy.Limits.PerTransaction = 1
		return tx.UpdateAgent(ctx, locked)
	})
	approving.Wait()

	if err != nil || approved.Status != agent.ActionFailed || approved.Failure.Code != fault.Forbidden {
		t.Errorf("%+v, %v", approved.Action, err)
	}
	e.wantUsage(0, 0)
}

// missingRates has no rate while it is missing.
type missingRates struct {
	ports.Rates
	missing bool
}

func (m *missingRates) Rate(ctx context.Context, from, to money.Currency, now time.Time) (ports.MarketRate, error) {
	if m.missing {
		return ports.MarketRate{}, fault.New(fault.QuoteRequestFailed, "There is no rate.")
	}
	return m.Rates.Rate(ctx, from, to, now)
}

func TestAgentPayment_MissingRateChangesNothing(t *testing.T) {
	t.Parallel()
	// Without a rate into the currency of the limits nothing is allowed, refused or recorded, and what waits keeps
	// waiting until there is one.
	e := newAgentEnv(t, newIdleEnv(t), requireApproval, func(p *agent.Policy) { p.Limits.Currency = "EUR" })
	rates := &missingRates{Rates: fixedMarket{}, missing: true}
	service := newService(e.Env, e.Store, nil, func(c *payments.Config) {
		c.Prices = prices.New(e.Store,
			rates, e.Clock)
	})
	_, asked := service.AgentTransferOut(t.Context(), e.caller, e.out(100_00), nil)
	apptest.WantFault(t, "asked", asked, fault.ServiceUnavailable)
	if _, lines := e.trail(); len(lines) != 0 {
		t.Errorf("recorded %q", lines)
	}
	rates.missing = false
	action, err := service.AgentTransferOut(t.Context(), e.caller, e.out(100_00), nil)
	if err != nil {
		t.Fatal(err)
	}

	rates.missing = true
	_, err = service.ApproveAgentAction(t.Context(), e.Admin, e.agent.ID, action.ID, nil)
	apptest.WantFault(t, "approved without a rate", err, fault.ServiceUnavailable)

	if read, err := e.AgentAction(t.Context(), e.Platform.ID, e.agent.ID, action.ID); err != nil || read.Status != agent.ActionPending {
		t.Errorf("read %+v, %v", read.Action, err)
	}
	rates.missing = false
	if approved, err := service.ApproveAgentAction(t.Context(), e.Admin, e.agent.ID, action.ID, nil); err != nil ||
		approved.Status != agent.ActionApproved {
		t.Errorf("%+v, %v", approved, err)
	}
	e.wantUsage(1, 100_00)
}

// fixedMarket has the rate 0.5 for every pair.
type fixedMarket struct{}

func (fixedMarket) Rate(_ context.Context, _, _ money.Currency, now time.Time) (ports.MarketRate, error) {
	return ports.MarketRate{Rate: money.MustRate("0.5"), At: now}, nil
}

func TestAgentPayment_InterruptedApprovalWaits(t *testing.T) {
	t.Parallel()
	// An approval whose unit of work fails changes nothing, and can be repeated.
	e := newAgentEnv(t, newIdleEnv(t), requireApproval)
	action := e.waiting()
	store := &interruptedStore{Store: e.Store}
	service := newService(e.Env, store, nil)
	store.arm(2, errors.New("unexpected EOF")) // the locks of balances, or the commit
	if _, err := service.ApproveAgentAction(t.Context(), e.Admin, e.agent.ID, action.ID, nil); err == nil || !store.interrupted() {
		t.Fatalf("interrupted %t, %v", store.interrupted(), err)
	}
	e.wantUsage(0, 0)

	approved, err := service.ApproveAgentAction(t.Context(), e.Admin, e.agent.ID, action.ID, nil)
	if err != nil || approved.Status != agent.ActionApproved {
		t.Errorf("%+v, %v", approved.Action, err)
	}
	e.wantUsage(1, 100_00)
}

func TestAgentQuote_FromWallet(t *testing.T) {
	t.Parallel()
	// A quote of an embedded wallet needs the signature of its owner. While it waits for approval the signature is
	// kept, and it is checked again: a session that has ended by then pays nothing.
	e := newAgentEnv(t, newIdleEnv(t), requireApproval, func(p *agent.Policy) { p.Limits.PerTransaction = money.MaxMinor })
	coins := e.account(e.Customer.ID, "USDB", 100_000_000)
	if coins.Type != account.EmbeddedWallet {
		t.Fatalf("opened %+v", coins)
	}
	session := e.NewWalletSession(coins)
	newQuote := func() quote.Quote {
		created, err := e.CreateAgentQuote(t.Context(), e.caller, quote.Request{Source: quote.Source{Internal: coins.ID},
			Destination: quote.Destination{External: e.bank.ID}, Side: quote.Sending, Amount: 10_000_000}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return created.Quote
	}
	sign := func(q quote.Quote) payments.Signature {
		return payments.Signature{Text: session.Sign(t, q.Instructions[0].Info["payloadToSign"].(string)), Environment: e.Platform.Environment}
	}
	q, unsigned := newQuote(), newQuote()
	_, err := e.ExecuteAgentQuote(t.Context(), e.caller, unsigned.ID, payments.Signature{}, nil)
	apptest.WantFault(t, "without a signature", err, fault.Unauthorized)
	_, err = e.ExecuteAgentQuote(t.Context(), e.caller, unsigned.ID, sign(q), nil)
	apptest.WantFault(t, "with the signature of another quote", err, fault.Unauthorized)
	first, err := e.ExecuteAgentQuote(t.Context(), e.caller, q.ID, sign(q), nil)
	if err != nil || first.Status != agent.ActionPending {
		t.Fatalf("%+v, %v", first, err)
	}
	late := newQuote()
	second, err := e.ExecuteAgentQuote(t.Context(), e.caller, late.ID, sign(late), nil)
	if err != nil {
		t.Fatal(err)
	}

	approved, err := e.approve(first.ID)
	if err != nil || approved.Status != agent.ActionApproved {
		t.Fatalf("%+v, %v", approved.Action, err)
	}
	if evidence, found, err := e.Store.WalletAuthorization(t.Context(), ports.TransactionKey{Platform: e.Platform.ID,
		ID: q.Transaction}); err != nil || !found || evidence.Session != session.ID {
		t.Errorf("evidence %+v, %v", evidence, err)
	}
	e.Revoke(session)
	failed, err := e.approve(second.ID)
	if err != nil || failed.Status != agent.ActionFailed || failed.Failure.Code != fault.Unauthorized {
		t.Errorf("%+v, %+v, %v", failed.Action, failed.Failure, err)
	}
}
