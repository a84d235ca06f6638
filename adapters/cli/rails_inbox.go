package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/cli/table"
	"causeway/app/rails"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ports"
)

// railsInboxCommand decides about reports of partners that were kept aside.
type railsInboxCommand struct {
	List    railsInboxListCommand    `cmd:"" help:"List the reports that could not be taken, with the reason, oldest first. They are tried again by themselves."`
	Show    railsInboxShowCommand    `cmd:"" help:"Show a report with what the partner has said. Needs CAUSEWAY_MASTER_KEY with a database URL, because it has personal data."`
	Retry   railsInboxRetryCommand   `cmd:"" help:"Try a report again now."`
	Discard railsInboxDiscardCommand `cmd:"" help:"End a report that will never be taken: it is not tried again, also if the partner repeats it. The money of a receipt or fee is then not in the ledger."`
}

// reportListArgs select what partners have reported.
type reportListArgs struct {
	DatabaseFlags
	listFlags
	Connection string `help:"Only reports of this connection." placeholder:"NAME"`
}

// listReports lists what find returns, of which it is asked for one more than the limit.
func listReports[T any](ctx context.Context, env *Env, c reportListArgs, l listing[T],
	find func(s *rails.Service, connection string, limit int) ([]T, error)) error {
	if err := c.check(); err != nil {
		return err
	}
	return c.withRails(ctx, env, func(service *rails.Service) error {
		found, err := find(service, c.Connection, c.Limit+1)
		l.more = moreOfConnection
		return printList(env, c.listFlags, found, err, l)
	})
}

type railsInboxListCommand struct{ reportListArgs }

func (c railsInboxListCommand) Run(ctx context.Context, env *Env) error {
	return listReports(ctx, env, c.reportListArgs, listing[ports.RailFeedItem]{
		columns: []string{"report", "connection", "kind", "partner's id or place|partner_id_or_place", "since", "attempts", "next",
			"could not be taken because|problem"},
		row: func(t *table.Table, i ports.RailFeedItem) {
			t.Add(i.ID, i.Connection, i.Kind, cmp.Or(i.Place, i.Key), table.Minute(i.KeptAt), i.Attempts, retryCell(i.RetryAt), i.Problem)
		},
		none: "Everything that partners reported was taken.",
	}, func(s *rails.Service, connection string, limit int) ([]ports.RailFeedItem, error) {
		return s.Items(ctx, connection, limit)
	})
}

// reportArgs name one report or statement.
type reportArgs struct {
	DatabaseFlags
	ID string `arg:"" name:"id" help:"Id, as listed."`
}

// withID calls fn with the id and the use cases.
func (c reportArgs) withID(ctx context.Context, env *Env, fn func(*rails.Service, uuid.UUID) error) error {
	id, err := c.id()
	if err != nil {
		return err
	}
	return c.withRails(ctx, env, func(service *rails.Service) error { return fn(service, id) })
}

func (c reportArgs) id() (uuid.UUID, error) {
	id, err := uuid.Parse(c.ID)
	if err != nil {
		err = fault.New(fault.InvalidInput, "%.100q is not an id of the list.", c.ID)
	}
	return id, err
}

// discardArgs name what an operator ends that will never be taken.
type discardArgs struct {
	reportArgs
	noteFlag
	actorFlag
}

func (c discardArgs) discard(ctx context.Context, env *Env, fn func(*rails.Service, uuid.UUID, rails.Author) error) error {
	id, err := c.id()
	if err != nil {
		return err
	}
	return c.changeRails(ctx, env, c.DatabaseFlags, c.actorFlag, func(service *rails.Service, by rails.Author) error {
		return fn(service, id, by)
	})
}

type railsInboxShowCommand struct {
	reportArgs
	outputFlag
	File string `help:"Write the report as it came to this file, which must not exist." placeholder:"FILE"`
}

func (c railsInboxShowCommand) Run(ctx context.Context, env *Env) error {
	return c.withID(ctx, env, func(service *rails.Service, id uuid.UUID) error {
		i, err := service.Item(ctx, id)
		if err != nil {
			return err
		}
		r := table.NewRecord("report", i.ID)
		r.Add("connection", i.Connection)
		r.Add("kind", i.Kind)
		r.Add("partner's id", i.Key)
		if i.Place != "" {
			r.Add("place", i.Place)
		}
		addReport(r, i.Platform, i.Problem, i.Attempts, i.KeptAt, i.RetryAt, i.Discarded)
		content, err := addContent(r, i)
		if err != nil {
			return err
		}
		var page table.Page
		page.Record("report", r)
		if c.File == "" {
			addContentText(&page, r, content, c.Output)
		}
		if err := c.print(env, &page); err != nil || c.File == "" {
			return err
		}
		return writeNewFile(c.File, content)
	})
}

// addContentText adds a report: all of it for programs and, if it is JSON, for people.
func addContentText(page *table.Page, r *table.Record, content []byte, format table.Format) {
	var indented bytes.Buffer
	isJSON := json.Indent(&indented, content, "", "  ") == nil
	switch {
	case format != table.Text && isJSON:
		r.Add("content", table.Cell{Value: json.RawMessage(content)})
	case format != table.Text:
		r.Add("content", string(content))
	case isJSON:
		page.Line("\n%s", indented.Bytes())
	case len(content) > 0:
		page.Line("\n%s", table.Printable(string(content[:min(len(content), shownBytes)])))
	}
}

// shownBytes is how much is shown of a report that is no JSON.
const shownBytes = 2000

// addContent returns what a partner has said, as it came if it was not understood. It adds how much of that is kept.
func addContent(r *table.Record, i ports.RailFeedItem) ([]byte, error) {
	if i.Kind != ports.RailFeedEvent && i.Kind != ports.RailFeedFile {
		return i.Content, nil
	}
	var raw ports.RawReport
	if err := json.Unmarshal(i.Content, &raw); err != nil {
		return nil, err
	}
	r.Add("bytes", raw.Size)
	if kept := int64(len(raw.Data)); kept < raw.Size {
		r.Add("bytes kept here", kept)
	}
	if raw.SHA256 != "" {
		r.Add("sha256", raw.SHA256)
	}
	return raw.Data, nil
}

// addReport adds the rows that reports and statements have in common.
func addReport(r *table.Record, p ident.Platform, problem string, attempts int, since, next time.Time, discarded ports.Discarded) {
	if !p.IsZero() {
		r.Add("platform", p)
	}
	r.Add("since", table.Minute(since))
	r.Add("attempts", attempts)
	if problem != "" {
		r.Add("problem", problem)
	}
	if discarded.DiscardedBy != "" {
		r.Add("discarded", fmt.Sprintf("%s by %s: %s", formatMinute(discarded.DiscardedAt), discarded.DiscardedBy, (discarded.Note)))
		return
	}
	r.Add("next attempt", retryCell(next))
}

// retryCell is when something is tried again by itself.
func retryCell(at time.Time) table.Cell {
	if at.Equal(ports.Never) {
		return table.Cell{Text: "never"}
	}
	return table.Minute(at)
}

type railsInboxRetryCommand struct{ reportArgs }

func (c railsInboxRetryCommand) Run(ctx context.Context, env *Env) error {
	return c.withID(ctx, env, func(service *rails.Service, id uuid.UUID) error {
		i, err := service.RetryItem(ctx, id)
		return env.say(err,
			"The report is tried again when %s is next read, within seconds unless that fails. If it stays in the list, the list says why: "+
				"causeway rails inbox list\n", i.Connection)
	})
}

type railsInboxDiscardCommand struct{ discardArgs }

func (c railsInboxDiscardCommand) Run(ctx context.Context, env *Env) error {
	return c.discard(ctx, env, func(service *rails.Service, id uuid.UUID, by rails.Author) error {
		i, err := service.DiscardItem(ctx, id, by)
		return env.say(settingErrors("nothing was changed", err), "%s %s of %s is discarded.\n", i.Kind, table.Printable(i.Key), i.Connection)
	})
}
