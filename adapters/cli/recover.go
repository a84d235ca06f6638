package cli

import (
	"context"
	"strconv"
	"strings"

	"causeway/adapters/cli/table"
	"causeway/app/rails"
	"causeway/ports"
)

// RecoverCommand shows what the database has lost, and lets money move again.
type RecoverCommand struct {
	List   recoverListCommand   `cmd:"" help:"List when a database was found to lack what had been committed, and who has reviewed it."`
	Show   recoverShowCommand   `cmd:"" help:"List what a finding names: postings that were committed, webhooks that were delivered, and checkpoints that were published. There may be more."`
	Review recoverReviewCommand `cmd:"" help:"Record that a finding was looked at. Once all are, money moves again, in every process and at once."`
}

type recoverListCommand struct {
	DatabaseFlags
	outputFlag
}

func (c recoverListCommand) Run(ctx context.Context, env *Env) error {
	return c.withRails(ctx, env, func(service *rails.Service) error {
		findings, err := service.LostCommitFindings(ctx)
		if err != nil {
			return err
		}
		t := table.New(">finding", "noticed", ">lost", "reviewed", "by", "note")
		for _, f := range findings {
			t.Add(f.ID, table.Minute(f.NoticedAt), f.Lost, table.Minute(f.ReviewedAt), table.OrDash(f.ReviewedBy), table.OrDash(f.Note))
		}
		return c.printTable(env, t, "The database was never found to lack what had been committed.")
	})
}

type recoverShowCommand struct {
	DatabaseFlags
	listFlags
	Finding int64 `arg:"" help:"Number of the finding, as causeway recover list shows it."`
}

func (c recoverShowCommand) Run(ctx context.Context, env *Env) error {
	if err := c.check(); err != nil {
		return err
	}
	return c.withRails(ctx, env, func(service *rails.Service) error {
		lost, err := service.LostCommits(ctx, c.Finding, c.Limit+1)
		return printList(env, c.listFlags, lost, err, listing[ports.LostCommit]{
			columns: []string{"platform", "kind", "committed", "transaction", "reference"},
			row: func(t *table.Table, l ports.LostCommit) {
				transaction := ""
				if !l.Transaction.IsZero() {
					transaction = l.Transaction.String()
				}
				t.Add(l.Platform, l.Kind, table.Minute(l.CommittedAt), table.OrDash(transaction), l.Reference)
			},
			none: "The finding names nothing.",
			more: "There are more. Raise --limit."})
	})
}

type recoverReviewCommand struct {
	DatabaseFlags
	actorFlag
	noteFlag
	Finding int64 `arg:"" help:"Number of the finding, as causeway recover list shows it."`
}

func (c recoverReviewCommand) Run(ctx context.Context, env *Env) error {
	return c.changeRails(ctx, env, c.DatabaseFlags, c.actorFlag, func(service *rails.Service, by rails.Author) error {
		open, withdrawn, err := service.ReviewLostCommits(ctx, c.Finding, by)
		if err != nil {
			return settingErrors("nothing was changed", err)
		}
		if len(open) > 0 {
			return env.say(nil, "Finding %d is reviewed. No money moves until these are too: %s\n", c.Finding, joinFindings(open))
		}
		return env.say(nil, "Finding %d is reviewed. Money moves again, and payments that waited leave within seconds, but for those that may "+
			"have left before: %d were taken back from their connections. Look for each at the partner, then release or cancel it: "+
			"causeway payouts review\n", c.Finding, withdrawn)
	})
}

func joinFindings(findings []ports.LostCommitFinding) string {
	numbers := make([]string, len(findings))
	for i, f := range findings {
		numbers[i] = strconv.FormatInt(f.ID, 10)
	}
	return strings.Join(numbers, ", ")
}
