package cli

import (
	"context"
	"fmt"

	"causeway/app/accounting"
	"causeway/core/ident"
	"causeway/core/platform"
)

type ledgerAssignCommand struct {
	changeFlags
	Receipt string `arg:"" help:"Id of the receipt, as listed by: causeway ledger unmatched." placeholder:"ID"`
	To      string `required:"" help:"PAYER to send it back, or to send a refund that failed again; or the id of an internal account, or of the transaction of a quote that waits for exactly this amount." placeholder:"ID"`
	Note    string `required:"" help:"Why. It is the memo of the posting." placeholder:"TEXT"`
}

func (l ledgerAssignCommand) Run(ctx context.Context, env *Env) error {
	receipt, err := ident.ParseReceipt(l.Receipt)
	if err != nil {
		return fmt.Errorf("%q is not the id of a receipt. List them with: causeway ledger unmatched --assigned=false", l.Receipt)
	}
	command, err := accounting.AssignTo(receipt, l.To, l.Note)
	if err != nil {
		return fieldErrors("nothing was assigned", flagErrors(err))
	}
	return l.change(ctx, env, AsRequest, "nothing was assigned", func(services Services, p ident.Platform, by platform.Author) error {
		outcome, err := services.Accounting().AssignUnmatched(ctx, p, by, command, nil)
		if err != nil {
			return flagErrors(err)
		}
		text := fmt.Sprintf("%s of %s is assigned to %s.", outcome.Done.Receipt.Amount, receipt, l.To)
		if p := outcome.Proposal; p != nil {
			text = fmt.Sprintf("This needs a second person. Another one approves it with: causeway ledger proposals approve %s", p.ID)
		}
		_, err = fmt.Fprintln(env.Out, text)
		return err
	})
}
