package cli

import (
	"context"

	"causeway/adapters/cli/table"
	"causeway/app/rails"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

// railsProposalsCommand reads the proposed changes of connections, which need the approval of a second person.
type railsProposalsCommand struct {
	List railsProposalsListCommand `cmd:"" help:"List proposed changes of connections, newest first."`
	Show railsProposalsShowCommand `cmd:"" help:"Print a proposal with the proposed change."`
}

type railsProposalsListCommand struct {
	DatabaseFlags
	proposalListFlags
}

func (c railsProposalsListCommand) Run(ctx context.Context, env *Env) error {
	if err := c.check(); err != nil {
		return err
	}
	return c.withRails(ctx, env, func(service *rails.Service) error {
		found, err := service.Proposals(ctx, ports.ProposalFilter{Paging: c.paging(), Status: proposal.Status(c.Status)})
		return printList(env, c.listFlags, found, err, listing[rails.Proposal]{
			columns: []string{"proposal", "operation", "connection", "status", "proposed (UTC)", "by", "decided by"}, none: noProposals,
			row: func(t *table.Table, p rails.Proposal) {
				t.Add(p.ID, p.Operation, p.Connection, p.Status, table.Second(p.CreatedAt), p.By.Actor, p.DecidedBy.Actor)
			},
		})
	})
}

// listRailProposals is the command that lists the proposed changes of connections.
const listRailProposals = "causeway rails proposals list"

type railsProposalsShowCommand struct {
	DatabaseFlags
	outputFlag
	proposalArg
}

func (c railsProposalsShowCommand) Run(ctx context.Context, env *Env) error {
	id, err := c.id(listRailProposals)
	if err != nil {
		return err
	}
	return c.withRails(ctx, env, func(service *rails.Service) error {
		found, err := service.Proposal(ctx, id)
		if err != nil {
			return err
		}
		return c.printProposal(env, found.Proposal, found.Status)
	})
}

type railsApproveCommand struct{ operatorDecision }

func (c railsApproveCommand) Run(ctx context.Context, env *Env) error {
	id, err := c.id(listRailProposals)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, railTestTimeout)
	defer cancel()
	return c.withAuthor(ctx, env, c.DatabaseFlags, "nothing was changed", func(services Services, by platform.Author) error {
		approved, checked, err := services.Rails().Approve(ctx, by, id)
		if err != nil {
			return settingErrors("nothing was changed", err)
		}
		if c.Output == table.Text {
			if err := writeChecked(env.Out, checked); err != nil {
				return err
			}
		}
		return c.printProposal(env, approved.Proposal, approved.Status)
	})
}

type railsRejectCommand struct {
	operatorDecision
	Note string `help:"Why. It is recorded." placeholder:"TEXT"`
}

func (c railsRejectCommand) Run(ctx context.Context, env *Env) error {
	id, err := c.id(listRailProposals)
	if err != nil {
		return err
	}
	return c.withAuthor(ctx, env, c.DatabaseFlags, "nothing was changed", func(services Services, by platform.Author) error {
		rejected, err := services.Rails().Reject(ctx, by, id, c.Note)
		if err != nil {
			return settingErrors("nothing was changed", err)
		}
		return c.printProposal(env, rejected.Proposal, rejected.Status)
	})
}

// sayProposed says that a change of a connection waits for another person.
func sayProposed(env *Env, name string, p *proposal.Proposal) error {
	return env.say(nil, "%s needs the approval of another person. This is proposed until %s UTC; nothing has changed yet. "+
		"Another person approves it after causeway login:\n  causeway rails approve %s\n", name, table.Second(p.ExpiresAt).Text, p.ID)
}
