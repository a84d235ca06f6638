package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"causeway/adapters/ids"
	"causeway/adapters/postgres"
	"causeway/app/accounting"
	"causeway/app/books"
	"causeway/app/proposals"
	corebooks "causeway/core/books"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

// newProposals returns the use cases on proposals of every operation that may need four eyes.
func newProposals(db *postgres.DB, idGenerator ports.IDs) *proposals.Service {
	return proposals.New(proposals.Config{Store: db, Clock: systemClock{}, IDs: idGenerator, Executors: slices.Concat(
		accounting.New(accounting.Config{Store: db, Clock: systemClock{}, IDs: idGenerator}).Executors(),
		accounting.NewPeriods(accounting.PeriodsConfig{Store: db, Ledger: db.LedgerReader(), Finance: db.Finance(), Clock: systemClock{}, IDs: idGenerator}).Executors(),
		books.New(books.Config{Store: db, Finance: db.Finance(), Clock: systemClock{}, IDs: idGenerator}).Executors(),
		newTreasury(db, idGenerator).Executors(),
		newReceivables(db, idGenerator).Executors(),
		newMonthEnd(db, idGenerator).Executors(),
		newYears(db, idGenerator).Executors(),
		newReconciliation(db, idGenerator).Executors(),
	)})
}

type ledgerProposalsCommand struct {
	List    proposalsListCommand    `cmd:"" help:"List changes of the books that need the approval of a second person, newest first."`
	Show    proposalsShowCommand    `cmd:"" help:"Print a proposal with the proposed change."`
	Approve proposalsApproveCommand `cmd:"" help:"Approve a proposal of another person, and make the change."`
	Reject  proposalsRejectCommand  `cmd:"" help:"Reject a proposal, for good."`
}

// proposalListFlags are the flags of every list of proposals.
type proposalListFlags struct {
	Status string `enum:"PENDING,EXECUTED,REJECTED,EXPIRED," default:"" help:"Only proposals with this status: PENDING, EXECUTED, REJECTED or EXPIRED." placeholder:"STATUS"`
	Limit  int    `default:"100" help:"Maximum number of proposals, from 1 to 10000."`
}

func (f proposalListFlags) check() error { return checkLimit(f.Limit) }

func writeNoProposals(out io.Writer) error {
	_, err := fmt.Fprintln(out, "There are no such proposals.")
	return err
}

type proposalsListCommand struct {
	databaseFlags
	proposalListFlags
	Action   string `help:"Only proposals of this action, such as ADJUSTMENT." placeholder:"ACTION"`
	Platform string `help:"Platform id. Required if there are several platforms." placeholder:"ID"`
}

func (c proposalsListCommand) Run(ctx context.Context, out io.Writer) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Action != "" && !slices.Contains(corebooks.Actions(), corebooks.Action(c.Action)) {
		return fmt.Errorf("--action %q is none of %v", c.Action, corebooks.Actions())
	}
	return c.withDatabase(ctx, func(db *postgres.DB) error {
		p, err := resolvePlatform(ctx, db, c.Platform)
		if err != nil {
			return err
		}
		page, err := newProposals(db, ids.New()).Proposals(ctx, p, ports.ProposalFilter{Paging: ports.Paging{Limit: c.Limit}, Action: corebooks.Action(c.Action), Status: proposal.Status(c.Status)})
		if err != nil {
			return err
		}
		if len(page.Items) == 0 {
			return writeNoProposals(out)
		}
		var rows table
		for _, item := range page.Items {
			rows.add(item.ID.String(), string(item.Action), item.Operation, string(item.Status), proposalTime(item.CreatedAt), item.By.String(), deciderText(item.Proposal))
		}
		return rows.write(out, "proposal", "action", "operation", "status", "proposed (UTC)", "by", "decided by")
	})
}

// proposalArgs are the arguments of a command on one proposal.
type proposalArgs struct {
	databaseFlags
	Proposal string `arg:"" help:"Id of the proposal, as listed." placeholder:"ID"`
	Platform string `help:"Platform id. Required if there are several platforms." placeholder:"ID"`
}

func (c proposalArgs) id() (ident.Proposal, error) {
	return parseProposal(c.Proposal, "causeway ledger proposals list")
}

// parseProposal parses the id of a proposal. list is the command that lists them.
func parseProposal(text, list string) (ident.Proposal, error) {
	id, err := ident.ParseProposal(text)
	if err != nil {
		err = fmt.Errorf("%q is not the id of a proposal. List them with: %s", text, list)
	}
	return id, err
}

type proposalsShowCommand struct{ proposalArgs }

func (c proposalsShowCommand) Run(ctx context.Context, out io.Writer) error {
	id, err := c.id()
	if err != nil {
		return err
	}
	return c.withDatabase(ctx, func(db *postgres.DB) error {
		p, err := resolvePlatform(ctx, db, c.Platform)
		if err != nil {
			return err
		}
		found, err := newProposals(db, ids.New()).Proposal(ctx, p, id)
		if err != nil {
			return err
		}
		return writeProposal(out, found.Proposal, found.Status)
	})
}

// proposalDecision holds the arguments of a command that decides a proposal.
type proposalDecision struct {
	proposalArgs
	actorFlag
}

func (c proposalDecision) decide(ctx context.Context, out io.Writer, do func(*proposals.Service, ident.Platform, platform.Author, ident.Proposal) (proposal.Stated, error)) error {
	id, err := c.id()
	if err != nil {
		return err
	}
	actor, err := platform.ParseActor(c.Actor)
	if err != nil {
		return fieldErrors("nothing was changed", err)
	}
	return c.withWritableDatabase(ctx, func(db *postgres.DB, idGenerator ports.IDs) error {
		if err := requireClock(ctx, db); err != nil {
			return err
		}
		p, err := resolvePlatform(ctx, db, c.Platform)
		if err != nil {
			return err
		}
		decided, err := do(newProposals(db, idGenerator), p, platform.Author{Actor: actor}, id)
		if err != nil {
			return listFields(err)
		}
		return writeProposal(out, decided.Proposal, decided.Status)
	})
}

type proposalsApproveCommand struct{ proposalDecision }

func (c proposalsApproveCommand) Run(ctx context.Context, out io.Writer) error {
	return c.decide(ctx, out, func(s *proposals.Service, p ident.Platform, by platform.Author, id ident.Proposal) (proposal.Stated, error) {
		return s.Approve(ctx, p, by, nil, id)
	})
}

type proposalsRejectCommand struct {
	proposalDecision
	Note string `help:"Reason, stored with the proposal." placeholder:"TEXT"`
}

func (c proposalsRejectCommand) Run(ctx context.Context, out io.Writer) error {
	return c.decide(ctx, out, func(s *proposals.Service, p ident.Platform, by platform.Author, id ident.Proposal) (proposal.Stated, error) {
		return s.Reject(ctx, p, by, nil, id, c.Note)
	})
}

// writeProposal prints the fields of a proposal that are set, and the proposed change and what it comes to as JSON.
func writeProposal(out io.Writer, p proposal.Proposal, status proposal.Status) error {
	var text bytes.Buffer
	for _, field := range [][2]string{
		{"proposal", p.ID.String()}, {"action", string(p.Action)}, {"operation", p.Operation}, {"status", string(status)},
		{"proposed by", p.By.String()}, {"proposed", proposalTime(p.CreatedAt)}, {"expires", proposalTime(p.ExpiresAt)},
		{"decided by", deciderText(p)}, {"decided", proposalTime(p.DecidedAt)}, {"note", p.Note}, {"made", p.Result}, {"last error", failureText(p.LastError)},
	} {
		if field[1] != "" {
			fmt.Fprintf(&text, "%-13s %s\n", field[0], field[1])
		}
	}
	text.WriteString("\n")
	if err := json.Indent(&text, p.Request, "", "  "); err != nil {
		return err
	}
	if len(p.Figures) > 0 {
		text.WriteString("\n\nfigures:\n")
		if err := json.Indent(&text, p.Figures, "", "  "); err != nil {
			return err
		}
	}
	text.WriteString("\n")
	_, err := out.Write(text.Bytes())
	return err
}

func deciderText(p proposal.Proposal) string {
	if p.DecidedAt.IsZero() {
		return ""
	}
	return p.DecidedBy.String()
}

func failureText(f *proposal.Failure) string {
	if f == nil {
		return ""
	}
	return strings.Join([]string{proposalTime(f.At), string(f.Code), f.Message}, " ")
}

// proposalTime prints a time in UTC; nothing for the zero time.
func proposalTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}
