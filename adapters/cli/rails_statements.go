package cli

import (
	"context"
	"errors"
	"os"

	"github.com/google/uuid"

	"causeway/adapters/cli/table"
	"causeway/app/rails"
	"causeway/ports"
)

// railsStatementsCommand decides about statements of partners that reconciliation has refused.
type railsStatementsCommand struct {
	List    railsStatementsListCommand    `cmd:"" help:"List the statements that wait to be reconciled, and why those that were refused are, oldest first."`
	Show    railsStatementsShowCommand    `cmd:"" help:"Show a statement, and write its file with --file. Needs CAUSEWAY_MASTER_KEY with a database URL."`
	Retry   railsStatementsRetryCommand   `cmd:"" help:"Reconcile a statement again now that was refused."`
	Discard railsStatementsDiscardCommand `cmd:"" help:"End a statement that will never be reconciled, such as one that was reconciled by hand. Its content is deleted."`
}

type railsStatementsListCommand struct{ reportListArgs }

func (c railsStatementsListCommand) Run(ctx context.Context, env *Env) error {
	return listReports(ctx, env, c.reportListArgs, listing[ports.QueuedStatement]{
		columns: []string{"statement", "connection", "file", "format", "received", "attempts", "next", "refused because|problem"},
		row: func(t *table.Table, q ports.QueuedStatement) {
			t.Add(q.ID, q.Connection, q.Name, q.Format, table.Minute(q.ReceivedAt), q.Attempts, table.Minute(q.RetryAt), table.OrDash(q.Problem))
		},
		none: "No statement waits to be reconciled.",
	}, func(s *rails.Service, connection string, limit int) ([]ports.QueuedStatement, error) {
		return s.QueuedStatements(ctx, connection, limit)
	})
}

type railsStatementsShowCommand struct {
	reportArgs
	outputFlag
	File string `help:"Write the file of the statement to this one, which must not exist." placeholder:"FILE"`
}

func (c railsStatementsShowCommand) Run(ctx context.Context, env *Env) error {
	return c.withID(ctx, env, func(service *rails.Service, id uuid.UUID) error {
		q, err := service.QueuedStatement(ctx, id)
		if err != nil {
			return err
		}
		r := table.NewRecord("statement", q.ID)
		r.Add("connection", q.Connection)
		r.Add("file", q.Name)
		r.Add("format", q.Format)
		r.Add("bytes", len(q.Data))
		if q.ReconciledAt.IsZero() {
			addReport(r, q.Platform, q.Problem, q.Attempts, q.ReceivedAt, q.RetryAt, q.Discarded)
		} else {
			r.Add("reconciled", table.Minute(q.ReconciledAt))
		}
		if err := c.printRecord(env, r); err != nil || c.File == "" {
			return err
		}
		if len(q.Data) == 0 {
			return errors.New("the file was deleted when the statement was reconciled or discarded")
		}
		return writeNewFile(c.File, q.Data)
	})
}

// writeNewFile writes a file that only its owner can read, and that did not exist.
func writeNewFile(name string, data []byte) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

type railsStatementsRetryCommand struct{ reportArgs }

func (c railsStatementsRetryCommand) Run(ctx context.Context, env *Env) error {
	return c.withID(ctx, env, func(service *rails.Service, id uuid.UUID) error {
		q, err := service.RetryStatement(ctx, id)
		return env.say(err,
			"%s is reconciled within a minute. If it is refused again, the list says why: causeway rails statements list\n", table.Printable(q.Name))
	})
}

type railsStatementsDiscardCommand struct{ discardArgs }

func (c railsStatementsDiscardCommand) Run(ctx context.Context, env *Env) error {
	return c.discard(ctx, env, func(service *rails.Service, id uuid.UUID, by rails.Author) error {
		q, err := service.DiscardStatement(ctx, id, by)
		return env.say(settingErrors("nothing was changed", err), "The statement %s of %s is discarded.\n",
			table.Printable(q.Name), q.Connection)
	})
}
