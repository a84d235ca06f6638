package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/google/uuid"

	"causeway/app/rails"
)

// railsStatementsCommand decides about statements of partners that reconciliation has refused.
type railsStatementsCommand struct {
	List    railsStatementsListCommand    `cmd:"" help:"List the statements that wait to be reconciled, and why those that were refused are, oldest first."`
	Show    railsStatementsShowCommand    `cmd:"" help:"Show a statement, and write its file with --output. Needs CAUSEWAY_MASTER_KEY with a database URL."`
	Retry   railsStatementsRetryCommand   `cmd:"" help:"Reconcile a statement again now that was refused."`
	Discard railsStatementsDiscardCommand `cmd:"" help:"End a statement that will never be reconciled, such as one that was reconciled by hand. Its content is deleted."`
}

type railsStatementsListCommand struct{ reportListArgs }

func (c railsStatementsListCommand) Run(ctx context.Context, out io.Writer) error {
	return c.write(ctx, out, "No statement waits to be reconciled.", func(s *rails.Service, limit int, t *table) (int, error) {
		statements, err := s.QueuedStatements(ctx, c.Connection, limit+1)
		for _, q := range statements[:min(len(statements), limit)] {
			problem := q.Problem
			if problem == "" {
				problem = "-"
			}
			t.add(q.ID.String(), q.Connection, printable(q.Name), q.Format, formatMinute(q.ReceivedAt), strconv.Itoa(q.Attempts), formatMinute(q.RetryAt), printable(problem))
		}
		return len(statements), err
	}, "statement", "connection", "file", "format", "received", "attempts", "next", "refused because")
}

type railsStatementsShowCommand struct {
	reportArgs
	Output string `help:"Write the file of the statement to this one, which must not exist." placeholder:"FILE"`
}

func (c railsStatementsShowCommand) Run(ctx context.Context, out io.Writer) error {
	return c.with(ctx, func(service *rails.Service, id uuid.UUID) error {
		q, err := service.QueuedStatement(ctx, id)
		if err != nil {
			return err
		}
		var t table
		t.add("connection", q.Connection)
		t.add("file", printable(q.Name))
		t.add("format", q.Format)
		t.add("bytes", strconv.Itoa(len(q.Data)))
		if q.ReconciledAt.IsZero() {
			addReport(&t, q.Platform, q.Problem, q.Attempts, q.ReceivedAt, q.RetryAt, q.Discarded)
		} else {
			t.add("reconciled", formatMinute(q.ReconciledAt))
		}
		if err := t.write(out, "statement", q.ID.String()); err != nil || c.Output == "" {
			return err
		}
		if len(q.Data) == 0 {
			return errors.New("the file was deleted when the statement was reconciled or discarded")
		}
		return writeNewFile(c.Output, q.Data)
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

func (c railsStatementsRetryCommand) Run(ctx context.Context, out io.Writer) error {
	return c.with(ctx, func(service *rails.Service, id uuid.UUID) error {
		q, err := service.RetryStatement(ctx, id)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s is reconciled within a minute. If it is refused again, the list says why: causeway rails statements list\n", printable(q.Name))
		return err
	})
}

type railsStatementsDiscardCommand struct {
	reportArgs
	noteFlag
	actorFlag
}

func (c railsStatementsDiscardCommand) Run(ctx context.Context, out io.Writer) error {
	return c.with(ctx, func(service *rails.Service, id uuid.UUID) error {
		q, err := service.DiscardStatement(ctx, id, c.by(c.actorFlag))
		if err != nil {
			return settingErrors("nothing was changed", err)
		}
		_, err = fmt.Fprintf(out, "The statement %s of %s is discarded.\n", printable(q.Name), q.Connection)
		return err
	})
}
