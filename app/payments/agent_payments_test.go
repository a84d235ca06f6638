package payments_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/app/payments"
	"causeway/core/agent"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

// agentPayments are the payments of each type, all of 100 dollars.
var agentPayments = map[agent.ActionType]func(*agentEnv, context.Context, *ports.IdempotentRequest) (payments.AgentAction, error){
	agent.ExecuteQuote: func(e *agentEnv, ctx context.Context, claim *ports.IdempotentRequest) (payments.AgentAction, error) {
		return e.ExecuteAgentQuote(ctx, e.caller, e.agentQuote(100_00).ID, payments.Signature{}, claim)
	},
	agent.TransferOut: func(e *agentEnv, ctx context.Context, claim *ports.IdempotentRequest) (payments.AgentAction, error) {
		return e.AgentTransferOut(ctx, e.caller, e.out(100_00), claim)
	},
	agent.TransferIn: func(e *agentEnv, ctx context.Context, claim *ports.IdempotentRequest) (payments.AgentAction, error) {
		return e.AgentTransferIn(ctx, e.caller, e.in(100_00), claim)
	},
}

func TestAgentPayment_RunsWithinPolicy(t *testing.T) {
	t.Parallel()
	// What the policy allows starts in the commit of its action, is counted with the amount sent, and is in the
	// trail. The action can be read as it was returned, with its payment.
	for kind, pay := range agentPayments {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			e := newAgentEnv(t, newIdleEnv(t))

			action, err := pay(e, t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}

			paid := action.Transaction
			if action.Status != agent.ActionApproved || action.Type != kind || action.Customer != e.Customer.ID ||
				action.PlatformCustomerID != e.Customer.PlatformCustomerID ||
				paid == nil || paid.ID != action.Action.Transaction || paid.Agent != e.agent.ID ||
				*paid.AgentUsage != (transaction.AgentUsage{Day: "2026-03-14"}) ||
				(action.Quote != nil) != (kind == agent.ExecuteQuote) || (action.Transfer != nil) == (kind == agent.ExecuteQuote) ||
				!action.DecidedBy.IsZero() {
				t.Errorf("returned %+v, transaction %+v", action, paid)
			}
			stored := e.Transaction(paid.ID)
			if stored.Agent != e.agent.ID || stored.AgentUsage == nil || *stored.AgentUsage != *paid.AgentUsage || stored.State != paid.State {
				t.Errorf("stored %+v", stored)
			}
			read, err := e.AgentAction(t.Context(), e.Platform.ID, e.agent.ID, action.ID)
			if err != nil || !reflect.DeepEqual(read.Action, action.Action) || read.Transaction == nil || read.Transaction.State != paid.State ||
				!reflect.DeepEqual(read.Quote, action.Quote) {
				t.Errorf("read %+v, %v", read, err)
			}
			e.wantUsage(1, 100_00)
			entries, lines := e.trail()
			last := entries[len(entries)-1]
			if lines[len(lines)-1] != string(kind)+" ALLOWED" || last.Action != action.ID || last.Transaction != paid.ID ||
				last.Amount != dollarsOf(100_00) || last.Customer != e.Customer.ID || !last.At.Equal(e.Clock.Now()) {
				t.Errorf("the trail is %q, last %+v", lines, last)
			}
			if events := e.Events.About(action.ID.UUID()); len(events) != 0 {
				t.Errorf("events %+v", events)
			}
		})
	}
}

func TestAgentPayment_RefusedByPolicy(t *testing.T) {
	t.Parallel()
	// What the policy does not allow is refused with all reasons, moves and counts nothing, and is in the trail.
	for kind, pay := range agentPayments {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			e := newAgentEnv(t, newIdleEnv(t))
			balances := map[string]int64{"rails/WIRE USD": 10_000_00, "customers/" + e.from.ID.String() + " USD": -10_000_00}
			created := e.agentQuote(100_00) // while that is allowed
			e.change(func(a *agent.Agent) {
				a.Policy.Permissions, a.Policy.AllowedAccounts = []agent.Permission{agent.ViewTransactions}, []ident.InternalAccount{}
				a.Policy.Limits.PerTransaction, a.Policy.Limits.Daily = 99_99, 99_99
			})
			if kind == agent.ExecuteQuote {
				pay = func(e *agentEnv, ctx context.Context, claim *ports.IdempotentRequest) (payments.AgentAction, error) {
					return e.ExecuteAgentQuote(ctx, e.caller, created.ID, payments.Signature{}, claim)
				}
			}
			request := apptest.IdempotentRequest(e.caller, "key", nil)
			request.Agent = e.agent.ID

			_, err := pay(e, t.Context(), request)

			f, _ := fault.As(err)
			if f == nil || f.Code != fault.Forbidden || f.Reason != "PERMISSION_MISSING" || len(f.Details["reasons"].([]map[string]any)) != 4 {
				t.Fatalf("%+v", err)
			}
			e.wantUsage(0, 0)
			e.WantBalances(balances)
			entries, lines := e.trail()
			last := entries[len(entries)-1]
			if len(lines) != 2 || lines[1] != string(kind)+" REFUSED" || len(last.Reasons) != 4 || !last.Action.IsZero() ||
				last.Transaction.IsZero() != (kind != agent.ExecuteQuote) {
				t.Errorf("the trail is %q, last %+v", lines, last)
			}
			if page, err := e.AgentActions(t.Context(), e.Platform.ID, ports.AgentActionFilter{Paging: ports.Paging{Limit: 10}}); err != nil ||
				len(page.Items) != 0 {
				t.Errorf("actions %+v, %v", page.Items, err)
			}
			// A repeated request gets the same response, and is not recorded again.
			if _, again := pay(e, t.Context(), request); again == nil {
				t.Error("the repeated request was not refused")
			}
			if _, lines := e.trail(); len(lines) != 2 {
				t.Errorf("after the repeated request the trail is %q", lines)
			}
		})
	}
}

func TestAgentPayment_WaitsForApproval(t *testing.T) {
	t.Parallel()
	// What needs approval waits, reserves nothing and is notified. Once approved it runs, and is counted then.
	for kind, pay := range agentPayments {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			e := newAgentEnv(t, newIdleEnv(t), requireApproval)
			request := apptest.IdempotentRequest(e.caller, "key", func(result any) string { return result.(payments.AgentAction).ID.String() })
			request.Agent = e.agent.ID

			waiting, err := pay(e, t.Context(), request)
			if err != nil || waiting.Status != agent.ActionPending || waiting.Transaction != nil || !waiting.DecidedAt.IsZero() {
				t.Fatalf("%+v, %v", waiting, err)
			}

			e.wantUsage(0, 0)
			if events := e.Events.About(waiting.ID.UUID()); len(events) != 1 || events[0].Name != "AGENT_ACTION.PENDING_APPROVAL" ||
				!reflect.DeepEqual(events[0].Resource, waiting) {
				t.Errorf("events %+v", events)
			}
			e.Clock.Advance(time.Second)
			approval := apptest.IdempotentRequest(e.Admin, "approval",
				func(result any) string { return string(result.(payments.AgentAction).Status) })
			approved, err := e.ApproveAgentAction(t.Context(), e.Admin, e.agent.ID, waiting.ID, approval)
			if err != nil || approved.Status != agent.ActionApproved || approved.DecidedBy != e.Admin.Token ||
				!approved.DecidedAt.Equal(e.Clock.Now()) ||
				approved.Transaction == nil || approved.Transaction.Agent != e.agent.ID || approved.Transaction.AgentUsage == nil {
				t.Fatalf("approved %+v, %v", approved, err)
			}
			e.wantUsage(1, 100_00)
			if read, err := e.AgentAction(t.Context(), e.Platform.ID, ident.Agent{}, waiting.ID); err != nil ||
				!reflect.DeepEqual(read.Action, approved.Action) {
				t.Errorf("read %+v, %v, want %+v", read.Action, err, approved.Action)
			}
			entries, lines := e.trail()
			if want := []string{string(kind) + " APPROVAL_REQUIRED", "APPROVE_ACTION ALLOWED"}; !slices.Equal(lines[len(lines)-2:], want) {
				t.Errorf("the trail is %q, want %q at its end", lines, want)
			}
			if last := entries[len(entries)-1]; last.Token != e.Admin.Token || last.Action != waiting.ID ||
				last.Transaction != approved.Transaction.ID || last.Amount != dollarsOf(100_00) {
				t.Errorf("recorded %+v", last)
			}
			_, again := e.ApproveAgentAction(t.Context(), e.Admin, e.agent.ID, waiting.ID, nil)
			apptest.WantFault(t, "approved again", again, fault.ActionNotPendingApproval)
			_, rejected := e.RejectAgentAction(t.Context(), e.Admin, e.agent.ID, waiting.ID, "", nil)
			apptest.WantFault(t, "rejected", rejected, fault.ActionNotPendingApproval)
			e.wantUsage(1, 100_00)
		})
	}
}

func TestAgentPayment_LimitHoldsForConcurrentRequests(t *testing.T) {
	t.Parallel()
	// Of 200 requests in two processes for the last unit of a limit, one is paid and the others are refused.
	for name, limit := range map[string]func(*agent.Policy){
		"daily":   func(p *agent.Policy) { p.Limits.Daily = 1_99 },
		"monthly": func(p *agent.Policy) { p.Limits.Monthly = 1_99 },
		"count":   func(p *agent.Policy) { p.Limits.DailyTransactions = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newAgentEnv(t, newIdleEnv(t), limit)
			services := []*payments.Service{newService(e.Env, e.Store, nil), newService(e.Env,
				e.Store, nil)}
			var mu sync.Mutex
			paid, refused := 0, 0
			var all sync.WaitGroup
			for i := range 200 {
				all.Go(func() {
					_, err := services[i%2].AgentTransferOut(t.Context(), e.caller, e.out(1_00), nil)
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err == nil:
						paid++
					case fault.Is(err, fault.Forbidden):
						refused++
					default:
						t.Error(err)
					}
				})
			}
			all.Wait()

			if paid != 1 || refused != 199 {
				t.Errorf("%d were paid and %d refused", paid, refused)
			}
			e.wantUsage(1, 1_00)
			e.WantBalances(map[string]int64{"rails/WIRE USD": 10_000_00, "customers/" + e.from.ID.String() + " USD": -9_999_00,
				"transit/payouts USD": -1_00})
		})
	}
}

func TestAgentPayment_GivesBackWhatFails(t *testing.T) {
	t.Parallel()
	// A payment that the rail refuses counts no more, so that the agent can spend the money again.
	e := newAgentEnv(t, newEnv(t), func(p *agent.Policy) { p.Limits.Daily = 100_00 })
	good := e.bank
	e.bank = e.NewBankAccount("123456002") // refused
	action, err := e.AgentTransferOut(t.Context(), e.caller, e.out(100_00), nil)
	if err != nil {
		t.Fatal(err)
	}

	failed := e.waitForStatus(action.Transaction.ID, transaction.Failed)

	if !failed.AgentUsage.GivenBack {
		t.Errorf("the usage of the failed payment is %+v", failed.AgentUsage)
	}
	e.wantUsage(0, 0)
	e.bank = good
	if _, err := e.AgentTransferOut(t.Context(), e.caller, e.out(100_00), nil); err != nil {
		t.Error(err)
	}
	_, again := e.AgentTransferOut(t.Context(), e.caller, e.out(1), nil)
	apptest.WantFault(t, "beyond the limit", again, fault.Forbidden)
}

func TestAgentPayment_FaultsAreRecorded(t *testing.T) {
	t.Parallel()
	// A payment that the policy allows and that cannot start is in the trail with its fault. What names nothing
	// that exists, or is not valid, is not in the trail.
	e := newAgentEnv(t, newIdleEnv(t), func(p *agent.Policy) { p.Limits.PerTransaction = 20_000_00 })
	stranger := e.NewCustomer("bo")
	foreign := e.account(stranger.ID, "USD", 1_000_00)
	q := e.agentQuote(10_00)
	e.Clock.Advance(time.Hour)
	for name, c := range map[string]struct {
		pay  func() error
		want fault.Code
		line string
	}{
		"short": {func() error {
			_, err := e.AgentTransferOut(t.Context(), e.caller, e.out(10_000_01), nil)
			return err
		}, fault.InsufficientBalance, "TRANSFER_OUT ALLOWED INSUFFICIENT_BALANCE"},
		"expired": {func() error {
			_, err := e.ExecuteAgentQuote(t.Context(), e.caller, q.ID, payments.Signature{}, nil)
			return err
		}, fault.QuoteExpired, "EXECUTE_QUOTE ALLOWED QUOTE_EXPIRED"},
		"an account of another customer": {func() error {
			_, err := e.AgentTransferOut(t.Context(), e.caller, transaction.TransferOut{From: foreign.ID, To: e.bank.ID, Amount: 1}, nil)
			return err
		}, fault.InternalAccountNotFound, ""},
		"into an account of another customer": {func() error {
			_, err := e.AgentTransferIn(t.Context(), e.caller, transaction.TransferIn{From: e.bank.ID, To: foreign.ID, Amount: 1}, nil)
			return err
		}, fault.InternalAccountNotFound, ""},
		"an unknown quote": {func() error {
			_, err := e.ExecuteAgentQuote(t.Context(), e.caller, ident.NewQuote(e.IDs.New, e.Clock.Now()), payments.Signature{}, nil)
			return err
		}, fault.QuoteNotFound, ""},
		"a quote of the platform": {func() error {
			created := e.quoteFrom(t, quote.Source{Internal: e.from.ID}, 1_00, quote.Destination{External: e.wallet.ID})
			_, err := e.ExecuteAgentQuote(t.Context(), e.caller, created.ID, payments.Signature{}, nil)
			return err
		}, fault.QuoteNotFound, "EXECUTE_QUOTE REFUSED QUOTE_NOT_FOUND"},
	} {
		_, before := e.trail()
		apptest.WantFault(t, name, c.pay(), c.want)
		_, after := e.trail()
		var want []string
		if c.line != "" {
			want = []string{c.line}
		}
		if got := after[len(before):]; !slices.Equal(got, want) {
			t.Errorf("%s: recorded %q, want %q", name, got, want)
		}
	}
	_, invalid := e.AgentTransferOut(t.Context(), e.caller, e.out(0), nil)
	apptest.WantFault(t, "no amount", invalid, fault.InvalidInput, "amount")
	e.wantUsage(0, 0)
}

func TestAgentPayment_SumThatDoesNotFit(t *testing.T) {
	t.Parallel()
	// Without a limit of the day an agent could send more than can be counted. The payment that would is refused, and
	// is in the trail.
	e := newAgentEnv(t, newIdleEnv(t))
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		spent := agent.Counter{Day: agent.DayOf(e.Clock.Now()), Currency: "USD", Transactions: 1, Spent: math.MaxInt64 - 1_00}
		return tx.AddAgentUsage(ctx, e.Platform.ID, []ports.AgentCount{{Agent: e.agent.ID, Counter: spent}})
	})

	_, err := e.AgentTransferIn(t.Context(), e.caller, e.in(1_01), nil)

	apptest.WantFault(t, "does not fit", err, fault.AmountOutOfRange)
	if _, lines := e.trail(); !slices.Equal(lines, []string{"TRANSFER_IN ALLOWED AMOUNT_OUT_OF_RANGE"}) {
		t.Errorf("the trail is %q", lines)
	}
	if _, err := e.AgentTransferIn(t.Context(), e.caller, e.in(1_00), nil); err != nil {
		t.Error(err)
	}
}

func TestAgentPayment_ExecutedByPlatformIsNotTheAgents(t *testing.T) {
	t.Parallel()
	// A quote that an agent has created and the platform executes counts nothing.
	e := newAgentEnv(t, newIdleEnv(t), func(p *agent.Policy) { p.Limits.DailyTransactions = 1 })
	q := e.agentQuote(100_00)

	e.execute(t, q)

	if paid := e.Transaction(q.Transaction); paid.Agent != e.agent.ID || paid.AgentUsage != nil {
		t.Errorf("stored %+v", paid)
	}
	e.wantUsage(0, 0)
	_, err := e.ExecuteAgentQuote(t.Context(), e.caller, q.ID, payments.Signature{}, nil)
	apptest.WantFault(t, "executed again", err, fault.QuoteAlreadyExecuted)
}

func TestAgentPayment_DeletedAgent(t *testing.T) {
	t.Parallel()
	// An agent that is deleted between the authentication of a request and its commit is refused like a wrong
	// token, and what it has waiting is rejected.
	for kind, pay := range agentPayments {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			e := newAgentEnv(t, newIdleEnv(t), requireApproval)
			waiting, err := e.AgentTransferOut(t.Context(), e.caller, e.out(1_00), nil)
			if err != nil {
				t.Fatal(err)
			}
			created := e.agentQuote(100_00)
			if kind == agent.ExecuteQuote {
				pay = func(e *agentEnv, ctx context.Context, claim *ports.IdempotentRequest) (payments.AgentAction, error) {
					return e.ExecuteAgentQuote(ctx, e.caller, created.ID, payments.Signature{}, claim)
				}
			}
			e.Do(func(ctx context.Context, tx *postgres.Unit) error {
				return tx.DeleteAgent(ctx, e.Platform.ID, e.agent.ID)
			})

			_, paid := pay(e, t.Context(), nil)
			apptest.WantFault(t, "paid", paid, fault.Unauthorized)
			_, quoted := e.CreateAgentQuote(t.Context(), e.caller, e.quoteRequest(1_00), nil)
			apptest.WantFault(t, "quoted", quoted, fault.Unauthorized)
			_, previewed := e.PreviewAgentPayment(t.Context(), e.caller, payments.AgentPaymentRequest{Quote: created.ID})
			apptest.WantFault(t, "previewed", previewed, fault.Unauthorized)

			read, err := e.AgentAction(t.Context(), e.Platform.ID, ident.Agent{}, waiting.ID)
			if err != nil || read.Status != agent.ActionRejected || read.RejectionReason != "The agent was deleted." {
				t.Errorf("read %+v, %v", read.Action, err)
			}
			_, err = e.ApproveAgentAction(t.Context(), e.Admin, e.agent.ID, waiting.ID, nil)
			apptest.WantFault(t, "approved", err, fault.ActionNotPendingApproval)
			if found := e.Transaction(created.Transaction); found.Agent != e.agent.ID {
				t.Errorf("the transaction of the quote has the agent %s", found.Agent)
			}
		})
	}
}

func TestAgentPreview(t *testing.T) {
	t.Parallel()
	// A preview says what the policy would, moves and records nothing, and has the faults of the payment.
	e := newAgentEnv(t, newIdleEnv(t), func(p *agent.Policy) {
		p.Limits.Daily, p.Threshold = 300_00, agent.ApprovalThreshold{Currency: "USD", Amount: new(int64(100_00))}
	})
	q := e.agentQuote(100_00)
	if _, err := e.AgentTransferOut(t.Context(), e.caller, e.out(50_00), nil); err != nil {
		t.Fatal(err)
	}
	_, before := e.trail()
	out, in, large := e.out(100_01), e.in(250_00), e.out(250_01)
	for name, c := range map[string]struct {
		request payments.AgentPaymentRequest
		want    agent.Decision
		minor   int64
	}{
		"quote":       {payments.AgentPaymentRequest{Quote: q.ID}, agent.Allowed, 100_00},
		"above":       {payments.AgentPaymentRequest{Out: &out}, agent.NeedsApproval, 100_01},
		"the rest":    {payments.AgentPaymentRequest{In: &in}, agent.NeedsApproval, 250_00},
		"above limit": {payments.AgentPaymentRequest{Out: &large}, agent.Refused, 250_01},
	} {
		got, err := e.PreviewAgentPayment(t.Context(), e.caller, c.request)
		if err != nil || got.Decision != c.want || got.Amount != dollarsOf(c.minor) || got.Spend != dollarsOf(c.minor) ||
			got.Usage != (agent.Usage{DailyTransactionCount: 1, DailySpend: 50_00, Day: "2026-03-14", MonthlySpend: 50_00, Month: "2026-03"}) ||
			(len(got.Reasons) == 0) != (c.want == agent.Allowed) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	e.wantUsage(1, 50_00)
	if _, after := e.trail(); !slices.Equal(after, before) {
		t.Errorf("recorded %q", after)
	}
	e.Clock.Advance(time.Hour)
	_, expired := e.PreviewAgentPayment(t.Context(), e.caller, payments.AgentPaymentRequest{Quote: q.ID})
	apptest.WantFault(t, "expired", expired, fault.QuoteExpired)
	other := ident.NewExternalAccount(e.IDs.New, e.Clock.Now())
	_, unknown := e.PreviewAgentPayment(t.Context(), e.caller,
		payments.AgentPaymentRequest{Out: &transaction.TransferOut{From: e.from.ID, To: other, Amount: 1}})
	apptest.WantFault(t, fmt.Sprint(other), unknown, fault.ExternalAccountNotFound)
}

func TestAgentPreview_SaysThatTheBalanceIsTooLow(t *testing.T) {
	t.Parallel()
	// A payment that would start at once, and for which the account does not hold enough, fails in a preview as it does
	// when it is made; one that waits for approval waits.
	e := newAgentEnv(t, newIdleEnv(t), func(p *agent.Policy) {
		p.Limits.PerTransaction, p.Threshold = 30_000_00, agent.ApprovalThreshold{Currency: "USD", Amount: new(int64(20_000_00))}
	})
	q := e.agentQuote(10_000_01)
	whole, above, approved, in := e.out(10_000_00), e.out(10_000_01), e.out(20_000_01), e.in(10_000_01)
	for name, c := range map[string]struct {
		request payments.AgentPaymentRequest
		want    agent.Decision // empty for INSUFFICIENT_BALANCE
	}{
		"all that there is": {payments.AgentPaymentRequest{Out: &whole}, agent.Allowed},
		"more":              {payments.AgentPaymentRequest{Out: &above}, ""},
		"quote":             {payments.AgentPaymentRequest{Quote: q.ID}, ""},
		"for approval":      {payments.AgentPaymentRequest{Out: &approved}, agent.NeedsApproval},
		"in":                {payments.AgentPaymentRequest{In: &in}, agent.Allowed},
	} {
		got, err := e.PreviewAgentPayment(t.Context(), e.caller, c.request)
		if c.want == "" {
			apptest.WantFault(t, name, err, fault.InsufficientBalance)
		} else if err != nil || got.Decision != c.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	_, executed := e.ExecuteAgentQuote(t.Context(), e.caller, q.ID, payments.Signature{}, nil)
	apptest.WantFault(t, "executed", executed, fault.InsufficientBalance)
	_, made := e.AgentTransferOut(t.Context(), e.caller, above, nil)
	apptest.WantFault(t, "made", made, fault.InsufficientBalance)
}

func TestAgentPreview_ManyShareOneUnitOfWork(t *testing.T) {
	t.Parallel()
	// Previews at the same time wait for the agent together, without a connection to the database each. Each is of its
	// payment alone: that all of them do not fit is no concern.
	const previews = 20
	e := newAgentEnv(t, newIdleEnv(t))
	queued := &waitingCommands{}
	service := newService(e.Env, e.Store, nil, func(c *payments.Config) { c.Batches.Observer = queued })
	var running sync.WaitGroup
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		if _, err := tx.LockAgents(ctx, e.Platform.ID, []ident.Agent{e.agent.ID}, "2026-03"); err != nil {
			return err
		}
		for i := range previews {
			running.Go(func() {
				out := e.out(1000_00)
				if i == 1 {
					out.Amount++
				}
				got, err := service.PreviewAgentPayment(t.Context(), e.caller, payments.AgentPaymentRequest{Out: &out})
				if want := map[bool]agent.Decision{false: agent.Allowed, true: agent.Refused}[i == 1]; err != nil || got.Decision != want ||
					got.Amount.Minor != out.Amount {
					t.Errorf("%+v, %v, want %s", got, err, want)
				}
			})
			if i == 0 {
				e.AwaitLockWait() // the first batch has one
			}
		}
		for queued.Load() < previews-1 {
			runtime.Gosched()
		}
		return nil
	})
	running.Wait()
}
