package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"causeway/adapters/postgres"
	"causeway/app/pricing"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

// corridorsProposalsCommand reads the proposed changes of terms, which need the approval of a second operator.
type corridorsProposalsCommand struct {
	List corridorsProposalsListCommand `cmd:"" help:"List proposed changes of all platforms, newest first."`
	Show corridorsProposalsShowCommand `cmd:"" help:"Print a proposal with the terms before and after the change."`
}

type corridorsProposalsListCommand struct {
	databaseFlags
	proposalListFlags
}

func (c corridorsProposalsListCommand) Run(ctx context.Context, out io.Writer) error {
	if err := c.check(); err != nil {
		return err
	}
	return c.withDatabase(ctx, func(db *postgres.DB) error {
		found, err := newPricing(db).Proposals(ctx, ports.ProposalFilter{Paging: ports.Paging{Limit: c.Limit}, Status: proposal.Status(c.Status)})
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return writeNoProposals(out)
		}
		var rows table
		for _, p := range found {
			rows.add(p.ID.String(), p.Operation, string(p.Key.From), string(p.Key.To), platformOrAll(p.Key), string(p.Status), proposalTime(p.CreatedAt), p.By.Actor, p.DecidedBy.Actor)
		}
		return rows.write(out, "proposal", "operation", "from", "to", "for", "status", "proposed (UTC)", "by", "decided by")
	})
}

// priceProposalArgs are the arguments of a command on one proposal.
type priceProposalArgs struct {
	databaseFlags
	Proposal string `arg:"" help:"Id of the proposal, as listed." placeholder:"ID"`
}

func (c priceProposalArgs) id() (ident.Proposal, error) {
	return parseProposal(c.Proposal, "causeway corridors proposals list")
}

type corridorsProposalsShowCommand struct{ priceProposalArgs }

func (c corridorsProposalsShowCommand) Run(ctx context.Context, out io.Writer) error {
	id, err := c.id()
	if err != nil {
		return err
	}
	return c.withDatabase(ctx, func(db *postgres.DB) error {
		found, err := newPricing(db).Proposal(ctx, id)
		if err != nil {
			return err
		}
		return writeProposal(out, found.Proposal, found.Status)
	})
}

type corridorsApproveCommand struct {
	priceProposalArgs
	actorFlag
}

func (c corridorsApproveCommand) Run(ctx context.Context, out io.Writer) error {
	id, err := c.id()
	if err != nil {
		return err
	}
	return c.withDatabase(ctx, func(db *postgres.DB) error {
		if err := requireClock(ctx, db); err != nil {
			return err
		}
		found, err := newPricing(db).Proposal(ctx, id)
		if err != nil {
			return err
		}
		kind := platform.OperatorSetCorridor
		if found.IsReset() {
			kind = platform.OperatorResetCorridor
		}
		action, err := c.action(kind, found.Key.Platform, string(found.Key.From)+" to "+string(found.Key.To))
		if err != nil {
			return err
		}
		approved, err := newPricing(db.Recording(action)).Approve(ctx, action.Actor, id)
		if err != nil {
			return err
		}
		return writeApprovedChange(out, approved)
	})
}

type corridorsRejectCommand struct {
	priceProposalArgs
	actorFlag
	Note string `help:"Reason, stored with the proposal." placeholder:"TEXT"`
}

func (c corridorsRejectCommand) Run(ctx context.Context, out io.Writer) error {
	id, err := c.id()
	if err != nil {
		return err
	}
	actor, err := platform.ParseActor(c.Actor)
	if err != nil {
		return fieldErrors("nothing was changed", err)
	}
	return c.withDatabase(ctx, func(db *postgres.DB) error {
		if err := requireClock(ctx, db); err != nil {
			return err
		}
		rejected, err := newPricing(db).Reject(ctx, actor, id, c.Note)
		if err != nil {
			return listFields(err)
		}
		return writeProposal(out, rejected.Proposal, rejected.State)
	})
}

// writeProposedChange prints a proposal that was made, and how it is approved.
func writeProposedChange(out io.Writer, c pricing.ChangeResult) error {
	if _, err := fmt.Fprintf(out, "%s to %s %s needs the approval of another operator. This is proposed; nothing has changed yet:\n", c.From, c.To, forPlatform(c.CorridorKey)); err != nil {
		return err
	}
	if err := writeChangedFields(out, c); err != nil {
		return err
	}
	before, after := overrideTexts(c.Before.Format()), overrideTexts(c.After.Format())
	if slices.ContainsFunc(c.ChangedFields, func(name string) bool { return before[name] == after[name] }) {
		if _, err := fmt.Fprintln(out, "A value that stays the same is set for this corridor from then on, or follows the default again."); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "%s was proposed by %s and expires at %s UTC. Another operator approves it with:\n  causeway corridors approve %s --actor NAME\n",
		c.Proposal.ID, printable(c.Proposal.By.Actor), proposalTime(c.Proposal.ExpiresAt), c.Proposal.ID)
	return err
}

// writeApprovedChange prints a change that was made by the approval of its proposal.
func writeApprovedChange(out io.Writer, c pricing.ChangeResult) error {
	if err := writeChange(out, c); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "Proposed by %s and approved by %s: %s.\n", printable(c.Proposal.By.Actor), printable(c.Proposal.DecidedBy.Actor), c.Proposal.ID)
	return err
}
