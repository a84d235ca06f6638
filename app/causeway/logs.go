package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"causeway/adapters/apiclient"
	"causeway/adapters/cli"
	"causeway/adapters/cli/table"
)

// logsCommand reads the log of a platform's requests.
type logsCommand struct {
	List logsListCommand `cmd:"" default:"withargs" help:"List the requests that the tokens and agents of a platform have made in the last week, the last answered first, or print them as they are answered with --follow. causeway logs is the same."`
	Show logsShowCommand `cmd:"" help:"Show a request with the bodies that are kept of it. Secrets and personal data are masked."`
}

type logsListCommand struct {
	tokenFlags
	Status         []string     `help:"Only requests with one of these statuses or classes of them, such as 409,5xx." placeholder:"LIST"`
	Method         string       `help:"Only requests with this method, such as POST." placeholder:"METHOD"`
	Operation      string       `help:"Only requests to this operation, such as createQuote." placeholder:"ID"`
	Path           string       `help:"Only requests whose path begins so, such as /quotes." placeholder:"PREFIX"`
	RequestID      string       `name:"request-id" help:"Only the requests with this Request-Id." placeholder:"ID"`
	IdempotencyKey string       `name:"idempotency-key" help:"Only the requests with this Idempotency-Key." placeholder:"KEY"`
	Token          string       `help:"Only requests of this token." placeholder:"ID"`
	From           string       `help:"Only requests that arrived at or after this time, such as 2026-01-15T09:00:00Z." placeholder:"TIME"`
	To             string       `help:"Only requests that arrived at or before this time." placeholder:"TIME"`
	Limit          int          `default:"100" help:"Maximum number of requests, from 1 to 10000."`
	Follow         bool         `short:"f" help:"Print requests as they are answered, until Ctrl-C. --output json prints one object a line."`
	Output         table.Format `default:"table" enum:"table,csv,json" help:"table, or csv or json for programs."`
}

// Help is printed below the help of the command.
func (logsListCommand) Help() string {
	return "It works over the API, as listen and trigger do, with a token that has the permission VIEW. Reading the log is not logged."
}

const maxLoggedRequests = 10_000

// Run lists requests, or follows them until ctx is done.
func (c logsListCommand) Run(ctx context.Context, env *cli.Env) error {
	switch {
	case c.Limit < 1 || c.Limit > maxLoggedRequests:
		return fmt.Errorf("--limit must be from 1 to %d, not %d", maxLoggedRequests, c.Limit)
	case c.Follow && c.Output == table.CSV:
		return errors.New("--follow prints lines: set --output to table or json, or list without --follow")
	case c.Follow && c.To != "":
		return errors.New("--follow has no end: leave out --to, or list without --follow")
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	if c.Follow {
		return c.follow(ctx, env, client)
	}
	found, more, err := client.LoggedRequests(ctx, c.filter(), c.Limit)
	if err != nil {
		return err
	}
	rows := newLogTable()
	for _, r := range found {
		addLogged(rows, r)
	}
	var page table.Page
	page.Table("", rows, "There are no such requests in the log.")
	if more {
		page.Line("There are more. Narrow the list, such as with --status 4xx,5xx, or raise --limit.")
	}
	return page.Write(env.Out, c.Output)
}

// filter returns the parameters of the operation.
func (c logsListCommand) filter() url.Values {
	filter := url.Values{}
	for name, value := range map[string]string{"method": strings.ToUpper(c.Method), "operationId": c.Operation, "pathPrefix": c.Path,
		"requestId": c.RequestID, "idempotencyKey": c.IdempotencyKey, "tokenId": c.Token, "startDate": c.From, "endDate": c.To,
		"status": strings.Join(c.Status, ",")} {
		if value != "" {
			filter.Set(name, value)
		}
	}
	return filter
}

func newLogTable() *table.Table {
	return table.New("at", ">status", "method", "path", ">ms|duration_ms", "code", "request id", "replayed", "id", ">lost before")
}

func addLogged(t *table.Table, r apiclient.LoggedRequest) {
	at := table.CellOf(r.At)
	at.Text = r.At.UTC().Format("2006-01-02 15:04:05.000")
	lost := table.CellOf(r.LostBefore)
	if r.LostBefore == 0 {
		lost.Text = "-"
	}
	t.Add(at, r.Status, r.Method, r.Target(), r.DurationMs, table.OrDash(r.Code), r.RequestID, r.Replayed, r.ID, lost)
}

// follow prints requests as they are answered.
func (c logsListCommand) follow(ctx context.Context, env *cli.Env, client *apiclient.Client) error {
	tail := &apiclient.LogTail{Client: client, Filter: c.filter()}
	if err := tail.Start(ctx); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(env.ErrOut, "Following the requests to %s; Ctrl-C ends it.\n", client.BaseURL); err != nil {
		return err
	}
	return follow(ctx, env, func(ctx context.Context) error {
		leftOut, err := tail.Poll(ctx, func(r apiclient.LoggedRequest) error { return c.print(env, r) })
		if leftOut {
			fmt.Fprintln(env.ErrOut, "There were more requests than can be followed, and the oldest of them are not shown. Narrow them, such as "+
				"with --status 4xx,5xx.")
		}
		return err
	})
}

// print prints one request that is followed.
func (c logsListCommand) print(env *cli.Env, r apiclient.LoggedRequest) error {
	if c.Output == table.JSON {
		row := newLogTable()
		addLogged(row, r)
		list, err := json.Marshal(row)
		if err == nil {
			_, err = fmt.Fprintf(env.Out, "%s\n", bytes.Trim(list, "[]\n"))
		}
		return err
	}
	if r.LostBefore > 0 {
		fmt.Fprintf(env.ErrOut, "%d requests before the next one are missing in the log.\n", r.LostBefore)
	}
	result := ""
	if r.Replayed {
		result = "  (replayed)"
	}
	if r.Code != "" {
		result += fmt.Sprintf("  %s: %.200s", r.Code, table.Printable(r.Message))
	}
	_, err := fmt.Fprintf(env.Out, "%s  %d %-6s %s  %d ms  [%s]%s\n", r.At.UTC().Format("15:04:05.000"), r.Status, r.Method,
		table.Printable(r.Target()), r.DurationMs, r.ID, result)
	return err
}

type logsShowCommand struct {
	tokenFlags
	ID     string       `arg:"" help:"Id of the entry, as causeway logs prints it."`
	Output table.Format `default:"table" enum:"table,csv,json" help:"table, or csv or json for programs."`
}

// Run shows a request.
func (c logsShowCommand) Run(ctx context.Context, env *cli.Env) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	r, err := client.LoggedRequest(ctx, c.ID)
	if err != nil {
		return err
	}
	record := table.NewRecord("id", r.ID)
	for _, field := range []struct {
		name  string
		value any
	}{
		{"at", r.At}, {"status", r.Status}, {"method", r.Method}, {"path", r.Path}, {"query", r.Query}, {"operation", r.OperationID},
		{"duration ms", r.DurationMs}, {"code", r.Code}, {"message", r.Message}, {"request id", r.RequestID},
		{"idempotency key", r.IdempotencyKey}, {"replayed", r.Replayed}, {"caller", r.Caller()}, {"lost before", r.LostBefore},
		{"request type", r.Request.ContentType}, {"request bytes", r.Request.Size}, {"response type", r.Response.ContentType},
		{"response bytes", r.Response.Size},
	} {
		if c.Output != table.Text || field.value != "" && field.value != int64(0) {
			record.Add(field.name, field.value)
		}
	}
	page := table.PageOf(record)
	for _, content := range []struct {
		name string
		apiclient.LoggedContent
	}{{"request body", r.Request}, {"response body", r.Response}} {
		if c.Output != table.Text {
			record.Add(content.name, string(content.Body))
			continue
		}
		addBody(page, content.name, content.LoggedContent)
	}
	return page.Write(env.Out, c.Output)
}

// addBody adds a body as people read it.
func addBody(page *table.Page, name string, content apiclient.LoggedContent) {
	var text bytes.Buffer
	if len(content.Body) == 0 || json.Indent(&text, content.Body, "", "  ") != nil {
		return
	}
	page.Line("")
	page.Line("%s", strings.ToUpper(name[:1])+name[1:]+":")
	for line := range strings.SplitSeq(text.String(), "\n") {
		page.Line("%s", line)
	}
	if content.Cut {
		page.Line("… (%d bytes in all)", content.Size)
	}
}
