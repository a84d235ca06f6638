package main

import (
	"bytes"
	"context"
	"time"

	"causeway/e2e/kit"
)

// measureStatements makes many payments into one account, and reads statements of it.
func (p *pastMonth) measureStatements(ctx context.Context) {
	const movements = 1_000
	logf("paying %d times into one account", movements)
	owner := p.full.create(ctx, "/customers", kit.CustomerBody())
	account := p.full.usdAccounts(ctx)[owner].ID
	forEach(ctx, movements, func(ctx context.Context, i int) { p.full.fund(ctx, account, int64(100+i)) })
	for _, statement := range []struct {
		format   string
		complete func(file []byte) bool
	}{
		{"html", func(file []byte) bool { return bytes.Count(file, []byte("<tr")) > movements }},
		{"pdf", func(file []byte) bool { return bytes.HasSuffix(bytes.TrimSpace(file), []byte("%%EOF")) }},
	} {
		var file []byte
		l := timed(50, func() time.Duration {
			response := p.full.get(ctx, "/customers/"+owner+"/statement?currency=USD&format="+statement.format)
			if file = response.Body; !statement.complete(file) {
				failf("the %s statement is not complete", statement.format)
			}
			return response.Duration
		})
		p.report.add(customerStatements, statement.format, l, byteSize(len(file)))
	}
}
