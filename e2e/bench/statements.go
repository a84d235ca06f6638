package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"
)

// stated is what it takes to make the statement of one customer.
type stated struct {
	movements int
	page, pdf latency
	sizes     [2]int64 // of the page and the pdf
}

const (
	movements  = 1_000
	statements = 50
)

// measureStatements pays into the account of a customer often, and asks for statements.
func (b *bench) measureStatements(ctx context.Context, p *past) error {
	say("paying %d times into one account", movements)
	r := rig{target: p.books.target}
	c, err := dial(ctx, p.books.address)
	if err != nil {
		return err
	}
	owner, err := r.makeCustomer(c, 0)
	c.close()
	if err != nil {
		return err
	}
	accounts, err := r.dollars(ctx)
	if err != nil {
		return err
	}
	if len(accounts) != 1 {
		return fmt.Errorf("one customer has %d accounts in dollars", len(accounts))
	}
	err = r.each(ctx, movements, func(c *client, i int) error {
		return c.call(r.target, "POST", "/sandbox/internal-accounts/"+accounts[0].ID+"/fund", map[string]any{"amount": 100 + i}, nil)
	})
	if err != nil {
		return err
	}
	f := stated{movements: movements}
	for i, how := range []struct {
		format string
		whole  func([]byte) bool
		into   *latency
	}{
		{"html", func(page []byte) bool { return bytes.Count(page, []byte("<tr")) > movements }, &f.page},
		{"pdf", func(file []byte) bool {
			return bytes.HasPrefix(file, []byte("%PDF-")) && bytes.HasSuffix(bytes.TrimSpace(file), []byte("%%EOF"))
		}, &f.pdf},
	} {
		took := make([]time.Duration, statements)
		for n := range took {
			var file bytes.Buffer
			d, err := r.target.stream(ctx, "/customers/"+owner.id+"/statement?currency=USD&format="+how.format, &file)
			if err != nil {
				return err
			}
			if !how.whole(file.Bytes()) {
				return errors.New("a statement as " + how.format + " is not whole")
			}
			took[n], f.sizes[i] = d.took, d.bytes
		}
		*how.into = latencyOf(took)
	}
	say("statement as a page %s ms, as pdf %s ms", f.page, f.pdf)
	b.results.stated = f
	return nil
}

func (r results) stating() section {
	f := r.stated
	return section{
		title: "Statements for people",
		prose: []string{
			fmt.Sprintf("`GET /customers/{customerId}/statement` of an account with %d movements, all of them payments that it names, %d times one after the other.", f.movements, statements),
		},
		head: []string{"Set as", latencyHead, "Size"},
		rows: [][]string{
			{"HTML", f.page.String(), fmt.Sprintf("%d kB", f.sizes[0]/1000)},
			{"PDF", f.pdf.String(), fmt.Sprintf("%d kB", f.sizes[1]/1000)},
		},
	}
}
