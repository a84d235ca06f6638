package payments

import (
	"context"

	"causeway/app/internal/spans"
	"causeway/core/agent"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

// AgentAction is an action of an agent with its payment.
type AgentAction struct {
	agent.Action
	// Quote is the quote that is executed; nil for a transfer.
	Quote *quote.WithStatus
	// Transaction is nil until the payment has started.
	Transaction *transaction.Transaction
}

// AgentPaymentRequest is a payment that an agent asks for: exactly one field is set.
type AgentPaymentRequest struct {
	Quote ident.Quote
	Out   *transaction.TransferOut
	In    *transaction.TransferIn
}

// ExecuteAgentQuote executes a quote that the agent has created, or waits for the approval of the platform, as
// the policy says. Faults: those of ExecuteSignedQuote; FORBIDDEN with all reasons if the policy refuses;
// UNAUTHORIZED if the agent was deleted meanwhile.
func (s *Service) ExecuteAgentQuote(ctx context.Context, caller platform.Principal, id ident.Quote, signature Signature,
	claim *ports.IdempotentRequest) (AgentAction, error) {
	c := s.newAgentCommand(ctx, caller, AgentPaymentRequest{Quote: id}, claim)
	if signature.Text != "" {
		_, t, err := s.Store.Quote(ctx, caller.Platform, id)
		if err == nil && t.Agent == caller.Agent {
			err = s.checkAgentSignature(ctx, c, signature)
		}
		if err != nil {
			return AgentAction{}, err
		}
	}
	return s.agentBatcher.Do(ctx, caller.Platform, c)
}

// AgentTransferOut makes a transfer out, or waits for the approval of the platform, as the policy says. Faults:
// those of TransferOut; FORBIDDEN with all reasons if the policy refuses; UNAUTHORIZED if the agent was deleted
// meanwhile.
func (s *Service) AgentTransferOut(ctx context.Context, caller platform.Principal, out transaction.TransferOut,
	claim *ports.IdempotentRequest) (AgentAction, error) {
	return s.agentTransfer(ctx, caller, AgentPaymentRequest{Out: &out}, claim)
}

// AgentTransferIn makes a transfer in, or waits for the approval of the platform, as the policy says. Faults: those
// of TransferIn; FORBIDDEN with all reasons if the policy refuses; UNAUTHORIZED if the agent was deleted meanwhile.
func (s *Service) AgentTransferIn(ctx context.Context, caller platform.Principal, in transaction.TransferIn,
	claim *ports.IdempotentRequest) (AgentAction, error) {
	return s.agentTransfer(ctx, caller, AgentPaymentRequest{In: &in}, claim)
}

func (s *Service) agentTransfer(ctx context.Context, caller platform.Principal, r AgentPaymentRequest,
	claim *ports.IdempotentRequest) (AgentAction, error) {
	if err := s.checkAgentRequest(ctx, caller.Platform, r); err != nil {
		return AgentAction{}, err
	}
	return s.agentBatcher.Do(ctx, caller.Platform, s.newAgentCommand(ctx, caller, r, claim))
}

// checkAgentRequest checks what does not depend on the parties, and refreshes the prices. The accounts of a transfer
// are of the platform of the caller.
func (s *Service) checkAgentRequest(ctx context.Context, p ident.Platform, r AgentPaymentRequest) error {
	switch {
	case r.Out != nil:
		r.Out.Platform = p
		if err := r.Out.Check(); err != nil {
			return err
		}
	case r.In != nil:
		r.In.Platform = p
		if err := r.In.Check(); err != nil {
			return err
		}
	default:
		return nil
	}
	return s.Prices.Refresh(ctx, p)
}

// ApproveAgentAction runs an action that waits, and returns it: APPROVED, or FAILED if it cannot run any more, for
// which the failure says why. The policy is evaluated again, with the usage of now. Faults: AGENT_ACTION_NOT_FOUND,
// ACTION_NOT_PENDING_APPROVAL; a temporary fault changes nothing, and the action waits.
func (s *Service) ApproveAgentAction(ctx context.Context, by platform.Principal, a ident.Agent, id ident.AgentAction,
	claim *ports.IdempotentRequest) (AgentAction, error) {
	stored, err := s.Store.AgentAction(ctx, by.Platform, id)
	switch {
	case err != nil:
	case stored.Agent != a:
		err = agent.ActionNotFound(id)
	default:
		err = stored.CheckPending()
	}
	if err != nil {
		return AgentAction{}, err
	}
	request := paymentOf(stored)
	if err := s.checkAgentRequest(ctx, by.Platform, request); err != nil {
		return AgentAction{}, err
	}
	c := s.newAgentCommand(ctx, platform.Principal{Platform: by.Platform, Agent: a}, request, claim)
	c.action, c.approver = id, by.Token
	if stored.Signature != "" {
		if err := s.checkAgentSignature(ctx, c, Signature{Text: stored.Signature, Environment: by.Environment}); err != nil {
			return AgentAction{}, err
		}
	}
	return s.agentBatcher.Do(ctx, by.Platform, c)
}

// paymentOf returns the payment of an action.
func paymentOf(a agent.Action) AgentPaymentRequest {
	switch a.Type {
	case agent.TransferOut:
		return AgentPaymentRequest{Out: &transaction.TransferOut{Platform: a.Platform, From: a.Transfer.Internal, To: a.Transfer.External,
			Amount: a.Transfer.Amount.Minor, Rail: a.Transfer.Rail, Remittance: a.Transfer.Remittance, Purpose: a.Transfer.Purpose}}
	case agent.TransferIn:
		return AgentPaymentRequest{In: &transaction.TransferIn{Platform: a.Platform, From: a.Transfer.External, To: a.Transfer.Internal,
			Amount: a.Transfer.Amount.Minor}}
	default:
		return AgentPaymentRequest{Quote: a.Quote}
	}
}

// convert returns the converter of amounts for policies.
func (s *Service) convert(ctx context.Context) agent.Converter {
	return func(a money.Amount, to money.Currency) (money.Amount, error) { return s.Prices.Convert(ctx, a, to) }
}

// newAgentCommand returns a command of the agent of a caller.
func (s *Service) newAgentCommand(ctx context.Context, caller platform.Principal, r AgentPaymentRequest,
	claim *ports.IdempotentRequest) *agentCommand {
	now := s.Clock.Now()
	return &agentCommand{platform: caller.Platform, agent: caller.Agent, request: r, idempotency: claim,
		action: ident.NewAgentAction(s.IDs.New, now), attempt: ident.NewAgentAttempt(s.IDs.New, now),
		transaction: ident.NewTransaction(s.IDs.New, now),
		execution: executeCommand{quote: ports.QuoteKey{Platform: caller.Platform, ID: r.Quote},
			trace: spans.Context(ctx)}}
}

// checkAgentSignature adds a signature to a command. That it is not valid is a fault of the payment, which is
// recorded with it; an error is another one.
func (s *Service) checkAgentSignature(ctx context.Context, c *agentCommand, signature Signature) error {
	err := s.checkSignature(ctx, &c.execution, signature)
	if f, ok := fault.As(err); ok && !f.Code.Temporary() {
		c.signatureErr = err
		return nil
	}
	return err
}
