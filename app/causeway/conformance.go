package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// rulePrinter prints which rules of a contract a provider or a sidecar follows.
type rulePrinter struct {
	out     io.Writer
	width   int // of the longest name of a rule
	checked int
	err     error // of the output
}

// print prints a line for a rule that was checked, and below it why it is broken.
func (p *rulePrinter) print(rule, text string, broken error) {
	p.checked++
	if broken == nil {
		p.line("pass", rule, text)
		return
	}
	p.line("FAIL", rule, text+"\n      "+strings.ReplaceAll(broken.Error(), "\n", "\n      "))
}

func (p *rulePrinter) skip(rule, text string) { p.line("skip", rule, text) }

func (p *rulePrinter) line(result, rule, text string) {
	_, err := fmt.Fprintf(p.out, "%s  %-*s %s\n", result, p.width, rule, text)
	p.err = errors.Join(p.err, err)
}

// end prints the summary, and returns an error if rules are broken. The subject is what was tested, such as "sidecar".
func (p *rulePrinter) end(ctx context.Context, subject string, broken int) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case broken > 0:
		return fmt.Errorf("the %s breaks %d of %d rules", subject, broken, p.checked)
	case p.err != nil:
		return p.err
	}
	_, err := fmt.Fprintf(p.out, "The %s follows all %d rules.\n", subject, p.checked)
	return err
}
