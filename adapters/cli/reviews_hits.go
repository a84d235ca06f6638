package cli

import (
	"context"
	"fmt"
	"strings"

	"causeway/app/customers"
	"causeway/core/ident"
	"causeway/core/screening"
)

// reviewHitFlags are those of the commands that decide about entries of sanctions lists.
type reviewHitFlags struct {
	reviewFlags
	Subject string   `arg:"" help:"Id of the customer or the beneficial owner." placeholder:"ID"`
	Entry   []string `required:"" sep:"," help:"The entries, as printed by: causeway reviews show." placeholder:"LIST:ENTRY"`
	Reason  string   `required:"" help:"Why. It is recorded for operators and not shown to the platform." placeholder:"TEXT"`
	actorFlag
}

// judge applies the verdict and prints what became of the customer.
func (f reviewHitFlags) judge(ctx context.Context, env *Env, status screening.HitStatus) error {
	var subject screening.Party
	var err error
	if strings.HasPrefix(f.Subject, "BeneficialOwner:") {
		subject.Owner, err = ident.ParseBeneficialOwner(f.Subject)
	} else {
		subject.Customer, err = ident.ParseCustomer(f.Subject)
	}
	if err != nil {
		return fmt.Errorf("ID must be that of a customer or a beneficial owner: %w", err)
	}
	return f.withVerifications(ctx, env, func(p ident.Platform, _ *customers.Verifications, services Services) error {
		by, err := f.author(ctx, env, services)
		if err != nil {
			return fieldErrors("nothing was changed", err)
		}
		judged, err := services.Screening(f.ScreeningThreshold).Judge(ctx, p, subject, f.Entry,
			screening.Verdict{Status: status, By: by.Actor, Person: by.Person, Reason: f.Reason})
		return env.say(fieldErrors("nothing was changed", err), "%s of %s: %s. %s is %s.\n",
			strings.Join(f.Entry, ", "), f.Subject, strings.ToLower(string(status)),
			judged.ID, judged.Status)
	})
}

type reviewsClearCommand struct{ reviewHitFlags }

func (c reviewsClearCommand) Run(ctx context.Context, env *Env) error {
	return c.judge(ctx, env, screening.Cleared)
}

type reviewsConfirmCommand struct{ reviewHitFlags }

func (c reviewsConfirmCommand) Run(ctx context.Context, env *Env) error {
	return c.judge(ctx, env, screening.Confirmed)
}
