package cli

import (
	"context"
	"strings"

	"causeway/adapters/cli/table"
	"causeway/ports"
)

// MailsCommand is about the mails and text messages to customers.
type MailsCommand struct {
	List mailsListCommand `cmd:"" help:"List the mails and text messages to customers and what became of them, newest first. Neither their recipients nor their content are shown."`
}

type mailsListCommand struct {
	DatabaseFlags
	anyPlatformFlag
	listFlags
	Status string `default:"" enum:",waiting,sent,refused,expired" help:"Only mails of this status: waiting (to be sent), sent, refused (the mail server or the provider will not take it) or expired (it could not be sent in time)." placeholder:"STATUS"`
}

func (c mailsListCommand) Run(ctx context.Context, env *Env) error {
	if err := c.check(); err != nil {
		return err
	}
	p, err := c.parse()
	if err != nil {
		return err
	}
	return c.with(ctx, env, OnBooks, func(services Services) error {
		listed, err := services.Customers().ListMails(ctx, ports.MailFilter{Platform: p, Status: ports.MailStatus(strings.ToUpper(c.Status)),
			Limit: c.Limit + 1})
		return printList(env, c.listFlags, listed, err, listing[ports.ListedMail]{
			columns: []string{"mail", "kind", "status", "created", "ended", "platform", "reason"},
			row: func(t *table.Table, m ports.ListedMail) {
				t.Add(m.ID, m.Kind, strings.ToLower(string(m.Status)), m.CreatedAt, m.At, m.Platform, table.Quoted(m.Reason))
			},
			none: "There are no such mails.", more: "There are more. Narrow the list with --platform or --status, or raise --limit.",
		})
	})
}
