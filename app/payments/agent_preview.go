package payments

import (
	"context"
	"maps"

	"causeway/app/internal/batch"
	"causeway/core/agent"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ledger"
	"causeway/ports"
)

// AgentPreview is what the policy says about a payment that an agent could ask for.
type AgentPreview struct {
	agent.Evaluation
	Amount money.Amount // what would be sent
	Usage  agent.Usage
}

// PreviewAgentPayment returns what the policy says about a payment now. It moves and records nothing, and checks no
// signatures, without which the balance of a wallet is not checked either. Faults: those of the payment, without FORBIDDEN.
func (s *Service) PreviewAgentPayment(ctx context.Context, caller platform.Principal, r AgentPaymentRequest) (AgentPreview, error) {
	if err := s.checkAgentRequest(ctx, caller.Platform, r); err != nil {
		return AgentPreview{}, err
	}
	return s.agentPreviewBatcher.Do(ctx, caller.Platform, s.newAgentCommand(ctx, caller, r, nil))
}

// previewAgentBatch locks as the payments do, but for balances, and writes nothing.
func (s *Service) previewAgentBatch(ctx context.Context, commands []*agentCommand) ([]batch.Result[AgentPreview], error) {
	rules, err := s.limits(ctx, commands[0].platform)
	if err != nil {
		return nil, err
	}
	var results []batch.Result[AgentPreview]
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		results = make([]batch.Result[AgentPreview], len(commands))
		run := s.newAgentRun(commands)
		if err := run.lockAgents(ctx, tx); err != nil {
			return err
		}
		if err := run.lockActions(ctx, tx); err != nil {
			return err
		}
		if err := run.readPayments(ctx, tx); err != nil {
			return err
		}
		balances, err := tx.Balances(ctx, run.payingAccounts())
		if err != nil {
			return err
		}
		if err := run.limits.Read(ctx, tx, commands[0].platform, rules, run.limited()); err != nil {
			return err
		}
		for i := range commands {
			results[i].Value, results[i].Err = run.preview(ctx, i, balances)
		}
		return nil
	})
	return results, err
}

// preview returns what the policy says about the command at a position, alone. It does not change the balances.
func (r *agentRun) preview(ctx context.Context, i int, balances ledger.Balances) (AgentPreview, error) {
	asked, err := r.evaluate(ctx, i)
	if err == nil {
		err = asked.stateErr
	}
	// As for a payment, a refusal comes before what else is wrong. A wallet need not have signed yet.
	if err == nil && asked.evaluation.Decision != agent.Refused && !fault.Is(asked.err, fault.Unauthorized) {
		err = asked.err
	}
	switch {
	case err != nil:
	case asked.evaluation.Decision == agent.Allowed:
		err = applyPostings(maps.Clone(balances), asked.decision)
	case asked.evaluation.Decision == agent.NeedsApproval:
		_, _, err = r.wait(r.commands[i], agent.Action{})
	}
	if err != nil {
		return AgentPreview{}, err
	}
	a := r.agents[r.commands[i].agent]
	usage, err := a.UsageAt(a.Counters, r.Now, r.service.convert(ctx))
	return AgentPreview{Evaluation: asked.evaluation, Amount: asked.payment.Amount, Usage: usage}, err
}
