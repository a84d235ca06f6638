package cli

import (
	"context"

	"causeway/adapters/cli/table"
	"causeway/app/pricing"
	"causeway/core/proposal"
	"causeway/ports"
)

// corridorsProposalsCommand reads the proposed changes of terms, which need the approval of a second operator.
type corridorsProposalsCommand struct {
	List corridorsProposalsListCommand `cmd:"" help:"List proposed changes of all platforms, newest first."`
	Show corridorsProposalsShowCommand `cmd:"" help:"Print a proposal with the terms before and after the change."`
}

type corridorsProposalsListCommand struct {
	DatabaseFlags
	proposalListFlags
}

func (c corridorsProposalsListCommand) Run(ctx context.Context, env *Env) error {
	if err := c.check(); err != nil {
		return err
	}
	return c.with(ctx, env, OnBooks, func(services Services) error {
		found, err := services.Pricing().Proposals(ctx, ports.ProposalFilter{Paging: c.paging(), Status: proposal.Status(c.Status)})
		return printList(env, c.listFlags, found, err, listing[pricing.Proposal]{
			columns: []string{"proposal", "operation", "from", "to", "for", "status", "proposed (UTC)", "by", "decided by"}, none: noProposals,
			row: func(t *table.Table, p pricing.Proposal) {
				t.Add(p.ID, p.Operation, p.Key.From, p.Key.To, platformOrAll(p.Key), p.Status, table.Second(p.CreatedAt), p.By.Actor, p.DecidedBy.Actor)
			},
		})
	})
}

// listPriceProposals is the command that lists the proposed changes of terms.
const listPriceProposals = "causeway corridors proposals list"

type corridorsProposalsShowCommand struct {
	DatabaseFlags
	outputFlag
	proposalArg
}

func (c corridorsProposalsShowCommand) Run(ctx context.Context, env *Env) error {
	id, err := c.id(listPriceProposals)
	if err != nil {
		return err
	}
	return c.with(ctx, env, OnBooks, func(services Services) error {
		found, err := services.Pricing().Proposal(ctx, id)
		if err != nil {
			return err
		}
		return c.printProposal(env, found.Proposal, found.Status)
	})
}

// operatorDecision holds the arguments of a command that decides a proposal of an operator.
type operatorDecision struct {
	DatabaseFlags
	outputFlag
	proposalArg
	actorFlag
}

type corridorsApproveCommand struct{ operatorDecision }

func (c corridorsApproveCommand) Run(ctx context.Context, env *Env) error {
	id, err := c.id(listPriceProposals)
	if err != nil {
		return err
	}
	return c.with(ctx, env, OnBooks, func(services Services) error {
		by, err := c.changer(ctx, env, services, "nothing was changed")
		if err != nil {
			return err
		}
		approved, err := services.Pricing().Approve(ctx, by, id)
		if err != nil {
			return err
		}
		return c.printChange(env, approved)
	})
}

type corridorsRejectCommand struct {
	operatorDecision
	Note string `help:"Why. It is recorded." placeholder:"TEXT"`
}

func (c corridorsRejectCommand) Run(ctx context.Context, env *Env) error {
	id, err := c.id(listPriceProposals)
	if err != nil {
		return err
	}
	return c.with(ctx, env, OnBooks, func(services Services) error {
		by, err := c.changer(ctx, env, services, "nothing was changed")
		if err != nil {
			return err
		}
		rejected, err := services.Pricing().Reject(ctx, by, id, c.Note)
		if err != nil {
			return settingErrors("nothing was changed", err)
		}
		return c.printProposal(env, rejected.Proposal, rejected.State)
	})
}
