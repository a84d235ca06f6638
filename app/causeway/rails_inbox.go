package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/google/uuid"

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
	databaseFlags
	Connection string `help:"Only reports of this connection." placeholder:"NAME"`
	Limit      int    `default:"100" help:"Maximum number of reports, from 1 to 10000."`
}

// write lists what find returns, of which it is asked for one more than the limit.
func (c reportListArgs) write(ctx context.Context, out io.Writer, none string, find func(s *rails.Service, limit int, t *table) (found int, err error), columns ...string) error {
	if err := checkLimit(c.Limit); err != nil {
		return err
	}
	return c.withRails(ctx, func(service *rails.Service) error {
		var t table
		found, err := find(service, c.Limit, &t)
		if err != nil {
			return err
		}
		if found == 0 {
			_, err := fmt.Fprintln(out, none)
			return err
		}
		if err := t.write(out, columns...); err != nil || found <= c.Limit {
			return err
		}
		_, err = fmt.Fprintln(out, "There are more. Narrow the list with --connection, or raise --limit.")
		return err
	})
}

type railsInboxListCommand struct{ reportListArgs }

func (c railsInboxListCommand) Run(ctx context.Context, out io.Writer) error {
	return c.write(ctx, out, "Everything that partners reported was taken.", func(s *rails.Service, limit int, t *table) (int, error) {
		items, err := s.Items(ctx, c.Connection, limit+1)
		for _, i := range items[:min(len(items), limit)] {
			t.add(i.ID.String(), i.Connection, string(i.Kind), printable(cmp.Or(i.Place, i.Key)), formatMinute(i.KeptAt), strconv.Itoa(i.Attempts), formatRetry(i.RetryAt), printable(i.Problem))
		}
		return len(items), err
	}, "report", "connection", "kind", "partner's id or place", "since", "attempts", "next", "could not be taken because")
}

// reportArgs name one report or statement.
type reportArgs struct {
	databaseFlags
	ID string `arg:"" name:"id" help:"Id, as listed."`
}

// with calls fn with the id and the use cases.
func (c reportArgs) with(ctx context.Context, fn func(*rails.Service, uuid.UUID) error) error {
	id, err := uuid.Parse(c.ID)
	if err != nil {
		return fault.New(fault.InvalidInput, "%.100q is not an id of the list.", c.ID)
	}
	return c.withRails(ctx, func(service *rails.Service) error { return fn(service, id) })
}

type railsInboxShowCommand struct {
	reportArgs
	Output string `help:"Write the report as it came to this file, which must not exist." placeholder:"FILE"`
}

func (c railsInboxShowCommand) Run(ctx context.Context, out io.Writer) error {
	return c.with(ctx, func(service *rails.Service, id uuid.UUID) error {
		i, err := service.Item(ctx, id)
		if err != nil {
			return err
		}
		var t table
		t.add("connection", i.Connection)
		t.add("kind", string(i.Kind))
		t.add("partner's id", printable(i.Key))
		if i.Place != "" {
			t.add("place", printable(i.Place))
		}
		addReport(&t, i.Platform, i.Problem, i.Attempts, i.KeptAt, i.RetryAt, i.Discarded)
		content, err := addContent(&t, i)
		if err != nil {
			return err
		}
		if err := t.write(out, "report", i.ID.String()); err != nil {
			return err
		}
		if c.Output != "" {
			return writeNewFile(c.Output, content)
		}
		var indented bytes.Buffer
		switch {
		case json.Indent(&indented, content, "", "  ") == nil:
			_, err = fmt.Fprintf(out, "\n%s\n", indented.Bytes())
		case len(content) > 0:
			_, err = fmt.Fprintf(out, "\n%s\n", printable(string(content[:min(len(content), shownBytes)])))
		}
		return err
	})
}

// shownBytes is how much is shown of a report that is no JSON.
const shownBytes = 2000

// addContent returns what a partner has said, as it came if it was not understood. It adds how much of that is kept.
func addContent(t *table, i ports.RailFeedItem) ([]byte, error) {
	if i.Kind != ports.RailFeedEvent && i.Kind != ports.RailFeedFile {
		return i.Content, nil
	}
	var raw ports.RawReport
	if err := json.Unmarshal(i.Content, &raw); err != nil {
		return nil, err
	}
	t.add("bytes", strconv.FormatInt(raw.Size, 10))
	if kept := int64(len(raw.Data)); kept < raw.Size {
		t.add("bytes kept here", strconv.FormatInt(kept, 10))
	}
	if raw.SHA256 != "" {
		t.add("sha256", printable(raw.SHA256))
	}
	return raw.Data, nil
}

// addReport adds the rows that reports and statements have in common.
func addReport(t *table, p ident.Platform, problem string, attempts int, since, next time.Time, discarded ports.Discarded) {
	if !p.IsZero() {
		t.add("platform", p.String())
	}
	t.add("since", formatMinute(since))
	t.add("attempts", strconv.Itoa(attempts))
	if problem != "" {
		t.add("problem", printable(problem))
	}
	if discarded.DiscardedBy != "" {
		t.add("discarded", fmt.Sprintf("%s by %s: %s", formatMinute(discarded.DiscardedAt), printable(discarded.DiscardedBy), printable(discarded.Note)))
		return
	}
	t.add("next attempt", formatRetry(next))
}

// formatRetry formats when something is tried again by itself.
func formatRetry(at time.Time) string {
	if at.Equal(ports.Never) {
		return "never"
	}
	return formatMinute(at)
}

type railsInboxRetryCommand struct{ reportArgs }

func (c railsInboxRetryCommand) Run(ctx context.Context, out io.Writer) error {
	return c.with(ctx, func(service *rails.Service, id uuid.UUID) error {
		i, err := service.RetryItem(ctx, id)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "The report is tried again when %s is next read, within seconds unless that fails. If it stays in the list, the list says why: causeway rails inbox list\n", i.Connection)
		return err
	})
}

type railsInboxDiscardCommand struct {
	reportArgs
	noteFlag
	actorFlag
}

func (c railsInboxDiscardCommand) Run(ctx context.Context, out io.Writer) error {
	return c.with(ctx, func(service *rails.Service, id uuid.UUID) error {
		i, err := service.DiscardItem(ctx, id, c.by(c.actorFlag))
		if err != nil {
			return settingErrors("nothing was changed", err)
		}
		_, err = fmt.Fprintf(out, "%s %s of %s is discarded.\n", i.Kind, printable(i.Key), i.Connection)
		return err
	})
}
