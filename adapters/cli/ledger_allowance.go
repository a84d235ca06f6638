package cli

import (
	"context"

	"causeway/app/monthend"
	"causeway/core/ident"
	runs "causeway/core/monthend"
	"causeway/core/period"
	"causeway/core/platform"
)

// allowanceAmounts are the columns with amounts of an allowance.
var allowanceAmounts = []int{1, 2, 3, 4, 6, 7, 8}

type receivablesPostAllowanceCommand struct{ monthEndPostCommand }

func (l receivablesPostAllowanceCommand) Run(ctx context.Context, env *Env) error {
	return l.post(ctx, env, func(s *monthend.Service, p ident.Platform, by platform.Author, m period.Month) (monthend.Table, runs.Run, error) {
		posted, err := s.PostAllowanceAlone(ctx, p, by, m)
		return posted.Table(), posted.Run, err
	}, allowanceAmounts...)
}

type receivablesAllowanceCommand struct{ monthEndFlags }

func (l receivablesAllowanceCommand) Run(ctx context.Context, env *Env) error {
	return l.run(ctx, env, func(s *monthend.Service, p ident.Platform, m period.Month) error {
		found, err := s.AllowanceOf(ctx, p, m)
		if err != nil {
			return err
		}
		return l.printRun(ctx, env, found.Run, found.Table(), allowanceAmounts...)
	})
}
