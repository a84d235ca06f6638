package payments_test

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"causeway/app/payments"
	"causeway/core/agent"
	"causeway/core/fault"
	"causeway/ports"
)

// lostBatchStore is a lostCommitStore whose second unit of work is committed or not: its caller cannot know.
type lostBatchStore struct {
	*lostCommitStore
	committed bool
	// afterwards is called before the error of the second unit of work is returned; it may be nil.
	afterwards func()
}

func (s *lostBatchStore) DoUnit(ctx context.Context, fn func(ctx context.Context, unit any) error) error {
	err := s.lostCommitStore.DoUnit(ctx, func(ctx context.Context, tx any) error {
		err := fn(ctx, tx)
		if s.runs == 2 && !s.committed {
			err = errCommitLost
		}
		return err
	})
	if err != nil && s.afterwards != nil {
		s.afterwards()
	}
	return err
}

func TestAgentBatch_LostCommitIsNotRepeated(t *testing.T) {
	t.Parallel()
	// A batch of agents fails and it is unknown whether it was committed. It runs again in halves: each caller gets
	// its result, and nothing is paid, counted or recorded twice.
	const others = 5
	type submit func(*agentEnv, *payments.Service, int) (payments.AgentAction, error)
	pay := func(e *agentEnv, s *payments.Service, _ int) (payments.AgentAction, error) {
		return s.AgentTransferOut(e.t.Context(), e.caller, e.out(100_00), nil)
	}
	for name, c := range map[string]struct {
		policy    func(*agent.Policy)
		prepare   func(*agentEnv) submit
		status    agent.ActionStatus // empty: refused
		paid      int64
		operation agent.Operation
	}{
		"transfer out": {func(*agent.Policy) {}, func(*agentEnv) submit { return pay }, agent.ActionApproved, others + 1, agent.OpTransferOut},
		"transfer in": {func(*agent.Policy) {}, func(*agentEnv) submit {
			return func(e *agentEnv, s *payments.Service, _ int) (payments.AgentAction, error) {
				return s.AgentTransferIn(e.t.Context(), e.caller, e.in(100_00), nil)
			}
		}, agent.ActionApproved, others + 1, agent.OpTransferIn},
		"quote": {func(*agent.Policy) {}, func(e *agentEnv) submit {
			quotes := make([]payments.AgentPaymentRequest, others+1)
			for i := range quotes {
				quotes[i].Quote = e.agentQuote(100_00).ID
			}
			return func(e *agentEnv, s *payments.Service, i int) (payments.AgentAction, error) {
				return s.ExecuteAgentQuote(e.t.Context(), e.caller, quotes[i].Quote, payments.Signature{}, nil)
			}
		}, agent.ActionApproved, others + 1, agent.OpExecuteQuote},
		"waiting": {requireApproval, func(*agentEnv) submit { return pay }, agent.ActionPending, 0, agent.OpTransferOut},
		"refused": {func(p *agent.Policy) { p.Limits.PerTransaction = 1 }, func(*agentEnv) submit { return pay }, "", 0, agent.OpTransferOut},
		"approval": {requireApproval, func(e *agentEnv) submit {
			waiting := make([]payments.AgentAction, others+1)
			for i := range waiting {
				var err error
				if waiting[i], err = e.AgentTransferOut(e.t.Context(), e.caller, e.out(100_00), nil); err != nil {
					e.t.Fatal(err)
				}
			}
			return func(e *agentEnv, s *payments.Service, i int) (payments.AgentAction, error) {
				return s.ApproveAgentAction(e.t.Context(), e.Admin, e.agent.ID, waiting[i].ID, nil)
			}
		}, agent.ActionApproved, others + 1, agent.OpApprove},
	} {
		for outcome, committed := range map[string]bool{"committed": true, "rolled back": false} {
			t.Run(name+" "+outcome, func(t *testing.T) {
				t.Parallel()
				e := newAgentEnv(t, newIdleEnv(t), c.policy)
				submit := c.prepare(e)
				store := &lostBatchStore{lostCommitStore: &lostCommitStore{Store: e.Store, firstBlocked: make(chan struct{}),
					release: make(chan struct{})}, committed: committed}
				waiting := &waitingCommands{}
				service := newService(e.Env, store, nil, func(c *payments.Config) { c.Batches.Observer = waiting })
				var mu sync.Mutex
				returned := map[string]bool{}
				var all sync.WaitGroup
				run := func(i int) {
					action, err := submit(e, service, i)
					mu.Lock()
					defer mu.Unlock()
					switch {
					case c.status == "" && fault.Is(err, fault.Forbidden):
					case err != nil || action.Status != c.status || (action.Transaction != nil) != (c.status == agent.ActionApproved):
						t.Errorf("%+v, %v", action, err)
					default:
						returned[action.ID.String()+action.Action.Transaction.String()] = true
					}
				}
				all.Go(func() { run(0) })
				<-store.firstBlocked
				for i := range others {
					all.Go(func() { run(i + 1) })
				}
				for waiting.Load() < others {
					runtime.Gosched() // until all wait for the first commit
				}

				close(store.release)
				all.Wait()

				page, err := e.AgentActions(t.Context(), e.Platform.ID, ports.AgentActionFilter{Paging: ports.Paging{Limit: 100}})
				if want := len(returned); err != nil || len(page.Items) != want || c.status != "" && want != others+1 {
					t.Errorf("%d actions are stored and %d returned (%v)", len(page.Items), want, err)
				}
				e.wantUsage(c.paid, c.paid*100_00)
				recorded := 0
				entries, lines := e.trail()
				for _, entry := range entries {
					if entry.Operation == c.operation {
						recorded++
					}
				}
				if recorded != others+1 {
					t.Errorf("recorded %q", lines)
				}
			})
		}
	}
}

func TestAgentBatch_LostRefusalOfAnOlderPolicy(t *testing.T) {
	t.Parallel()
	// A refusal is committed and its result is lost; when the batch runs again the policy has been changed. The
	// payments start, and the trail has both.
	e := newAgentEnv(t, newIdleEnv(t), func(p *agent.Policy) { p.Limits.PerTransaction = 1 })
	store := &lostBatchStore{lostCommitStore: &lostCommitStore{Store: e.Store, firstBlocked: make(chan struct{}),
		release: make(chan struct{})}, committed: true}
	store.afterwards = func() { e.change(func(a *agent.Agent) { a.Policy.Limits.PerTransaction = 100_00 }) }
	waiting := &waitingCommands{}
	service := newService(e.Env, store, nil, func(c *payments.Config) { c.Batches.Observer = waiting })
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := service.AgentTransferOut(t.Context(), e.caller, e.out(100_00), nil); !fault.Is(err, fault.Forbidden) {
			t.Errorf("before the change: %v", err)
		}
	})
	<-store.firstBlocked
	for range 2 {
		all.Go(func() {
			if _, err := service.AgentTransferOut(t.Context(), e.caller, e.out(100_00), nil); err != nil {
				t.Errorf("after the change: %v", err)
			}
		})
	}
	for waiting.Load() < 2 {
		runtime.Gosched()
	}

	close(store.release)
	all.Wait()

	e.wantUsage(2, 200_00)
	counts := map[string]int{}
	_, lines := e.trail()
	for _, line := range lines {
		counts[line]++
	}
	if counts["TRANSFER_OUT REFUSED"] != 3 || counts["TRANSFER_OUT ALLOWED"] != 2 || len(lines) != 5 {
		t.Errorf("the trail is %q", lines)
	}
}
