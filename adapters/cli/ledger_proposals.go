package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"causeway/adapters/cli/table"
	"causeway/app/proposals"
	corebooks "causeway/core/books"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

type ledgerProposalsCommand struct {
	List    proposalsListCommand    `cmd:"" help:"List changes of the books that need the approval of a second person, newest first."`
	Show    proposalsShowCommand    `cmd:"" help:"Print a proposal with the proposed change."`
	Approve proposalsApproveCommand `cmd:"" help:"Approve a proposal of another person, and make the change."`
	Reject  proposalsRejectCommand  `cmd:"" help:"Reject a proposal, for good."`
}

// proposalListFlags are the flags of every list of proposals.
type proposalListFlags struct {
	listFlags
	Status string `enum:"PENDING,EXECUTED,REJECTED,EXPIRED," default:"" help:"Only proposals with this status: PENDING, EXECUTED, REJECTED or EXPIRED." placeholder:"STATUS"`
}

const noProposals = "There are no such proposals."

type proposalsListCommand struct {
	platformFlags
	proposalListFlags
	Action string `help:"Only proposals of this action, such as ADJUSTMENT." placeholder:"ACTION"`
}

func (c proposalsListCommand) Run(ctx context.Context, env *Env) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Action != "" && !slices.Contains(corebooks.Actions(), corebooks.Action(c.Action)) {
		return fmt.Errorf("--action %q is none of %v", c.Action, corebooks.Actions())
	}
	return c.on(ctx, env, OnBooks, func(services Services, p ident.Platform) error {
		page, err := services.Proposals().Proposals(ctx, p,
			ports.ProposalFilter{Paging: c.paging(), Action: corebooks.Action(c.Action), Status: proposal.Status(c.Status)})
		return printList(env, c.listFlags, page.Items, err, listing[proposal.Stated]{
			columns: []string{"proposal", "action", "operation", "status", "proposed (UTC)", "by", "decided by"}, none: noProposals,
			row: func(t *table.Table, item proposal.Stated) {
				t.Add(item.ID, item.Action, item.Operation, item.Status, table.Second(item.CreatedAt), item.By, deciderText(item.Proposal))
			},
		})
	})
}

// proposalArg names a proposal.
type proposalArg struct {
	Proposal string `arg:"" help:"Id of the proposal, as listed." placeholder:"ID"`
}

// id parses the id of the proposal. list is the command that lists them.
func (c proposalArg) id(list string) (ident.Proposal, error) {
	id, err := ident.ParseProposal(c.Proposal)
	if err != nil {
		err = fmt.Errorf("%q is not the id of a proposal. List them with: %s", c.Proposal, list)
	}
	return id, err
}

// listProposals is the command that lists the proposals of changes of the books.
const listProposals = "causeway ledger proposals list"

type proposalsShowCommand struct {
	tableFlags
	proposalArg
}

func (c proposalsShowCommand) Run(ctx context.Context, env *Env) error {
	id, err := c.id(listProposals)
	if err != nil {
		return err
	}
	return c.on(ctx, env, OnBooks, func(services Services, p ident.Platform) error {
		found, err := services.Proposals().Proposal(ctx, p, id)
		if err != nil {
			return err
		}
		return c.printProposal(env, found.Proposal, found.Status)
	})
}

// proposalDecision holds the arguments of a command that decides a proposal.
type proposalDecision struct {
	changeFlags
	outputFlag
	proposalArg
}

func (c proposalDecision) decide(ctx context.Context, env *Env,
	do func(*proposals.Service, ident.Platform, platform.Author, ident.Proposal) (proposal.Stated, error)) error {
	id, err := c.id(listProposals)
	if err != nil {
		return err
	}
	return c.change(ctx, env, AsRequest, "nothing was changed", func(services Services, p ident.Platform, by platform.Author) error {
		decided, err := do(services.Proposals(), p, by, id)
		if err != nil {
			return settingErrors("nothing was changed", err)
		}
		return c.printProposal(env, decided.Proposal, decided.Status)
	})
}

type proposalsApproveCommand struct{ proposalDecision }

func (c proposalsApproveCommand) Run(ctx context.Context, env *Env) error {
	return c.decide(ctx, env, func(s *proposals.Service, p ident.Platform, by platform.Author, id ident.Proposal,
	) (proposal.Stated, error) {
		return s.Approve(ctx, p, by, nil, id)
	})
}

type proposalsRejectCommand struct {
	proposalDecision
	Note string `help:"Why. It is recorded." placeholder:"TEXT"`
}

func (c proposalsRejectCommand) Run(ctx context.Context, env *Env) error {
	return c.decide(ctx, env, func(s *proposals.Service, p ident.Platform, by platform.Author, id ident.Proposal,
	) (proposal.Stated, error) {
		return s.Reject(ctx, p, by, nil, id, c.Note)
	})
}

// printProposal prints the fields of a proposal that are set, and the proposed change and what it comes to as JSON.
func (f outputFlag) printProposal(env *Env, p proposal.Proposal, status proposal.Status) error {
	record := &table.Record{MinWidth: 12}
	for _, field := range []struct {
		name  string
		value table.Cell
	}{
		{"proposal", table.CellOf(p.ID)}, {"action", table.CellOf(p.Action)}, {"operation", table.CellOf(p.Operation)},
		{"status", table.CellOf(status)},
		{"proposed by", table.CellOf(p.By)}, {"proposed", table.Second(p.CreatedAt)}, {"expires", table.Second(p.ExpiresAt)},
		{"decided by", table.CellOf(deciderText(p))}, {"decided", table.Second(p.DecidedAt)}, {"note", table.CellOf(p.Note)},
		{"made", table.CellOf(p.Result)}, {"last error", table.CellOf(failureText(p.LastError))},
	} {
		if field.value.Text != "" {
			record.Add(field.name, field.value)
		}
	}
	if f.Output != table.Text {
		record.Add("request", table.Cell{Value: json.RawMessage(p.Request)})
		if len(p.Figures) > 0 {
			record.Add("figures", table.Cell{Value: json.RawMessage(p.Figures)})
		}
	}
	var page table.Page
	page.Record("proposal", record)
	var text bytes.Buffer
	if err := json.Indent(&text, p.Request, "", "  "); err != nil {
		return err
	}
	if len(p.Figures) > 0 {
		text.WriteString("\n\nfigures:\n")
		if err := json.Indent(&text, p.Figures, "", "  "); err != nil {
			return err
		}
	}
	page.Line("\n%s", text.String())
	return f.print(env, &page)
}

func deciderText(p proposal.Proposal) table.Actor {
	if p.DecidedAt.IsZero() {
		return ""
	}
	return table.Actor(p.DecidedBy.String())
}

func failureText(f *proposal.Failure) string {
	if f == nil {
		return ""
	}
	return strings.Join([]string{table.Second(f.At).Text, string(f.Code), f.Message}, " ")
}
