package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"
)

// statementResults is what it takes to make the statement of one customer.
type statementResults struct {
	movements int
	html, pdf latency
	sizes     [2]int64 // of the page and the pdf
}

const (
	statementMovements = 1_000
	statementRequests  = 50
)

// measureStatements pays into the account of a customer often, and asks for statements.
func (b *bench) measureStatements(ctx context.Context, p *closedPeriodEnv) error {
	logf("paying %d times into one account", statementMovements)
	r := benchEnv{target: p.monthTenant.target}
	c, err := dial(ctx, p.monthTenant.address)
	if err != nil {
		return err
	}
	owner, err := r.createCustomer(c, 0)
	c.close()
	if err != nil {
		return err
	}
	accounts, err := r.usdAccounts(ctx)
	if err != nil {
		return err
	}
	if len(accounts) != 1 {
		return fmt.Errorf("one customer has %d accounts in dollars", len(accounts))
	}
	err = r.forEach(ctx, statementMovements, func(c *client, i int) error {
		return c.call(r.target, "POST", "/sandbox/internal-accounts/"+accounts[0].ID+"/fund", map[string]any{"amount": 100 + i}, nil)
	})
	if err != nil {
		return err
	}
	f := statementResults{movements: statementMovements}
	for i, how := range []struct {
		format string
		whole  func([]byte) bool
		into   *latency
	}{
		{"html", func(page []byte) bool { return bytes.Count(page, []byte("<tr")) > statementMovements }, &f.html},
		{"pdf", func(file []byte) bool {
			return bytes.HasPrefix(file, []byte("%PDF-")) && bytes.HasSuffix(bytes.TrimSpace(file), []byte("%%EOF"))
		}, &f.pdf},
	} {
		took := make([]time.Duration, statementRequests)
		for n := range took {
			var file bytes.Buffer
			d, err := r.target.stream(ctx, "/customers/"+owner.id+"/statement?currency=USD&format="+how.format, &file)
			if err != nil {
				return err
			}
			if !how.whole(file.Bytes()) {
				return errors.New("a statement as " + how.format + " is not whole")
			}
			took[n], f.sizes[i] = d.duration, d.bytes
		}
		*how.into = latencyOf(took)
	}
	logf("statement as a page %s ms, as pdf %s ms", f.html, f.pdf)
	b.results.statementResults = f
	return nil
}

func (r results) statementsSection() section {
	f := r.statementResults
	return section{
		title: "Statements for people",
		prose: []string{
			fmt.Sprintf("`GET /customers/{customerId}/statement` of an account with %d movements, all of them payments that it names, %d times one after the other.", f.movements, statementRequests),
		},
		columns: []string{"Set as", latencyColumn, "Size"},
		rows: [][]string{
			{"HTML", f.html.String(), fmt.Sprintf("%d kB", f.sizes[0]/1000)},
			{"PDF", f.pdf.String(), fmt.Sprintf("%d kB", f.sizes[1]/1000)},
		},
	}
}
