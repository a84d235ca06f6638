package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"causeway/adapters/cli/table"
	"causeway/app/platforms"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/ports"
)

// TokenCommand manages the tokens of any platform without a token, for example after the
// credentials of a platform were lost.
type TokenCommand struct {
	Create         tokenCreateCommand         `cmd:"" help:"Create a token of a platform, and print its credentials. The secret is shown only once."`
	List           tokenListCommand           `cmd:"" help:"Print the tokens of a platform, without their secrets."`
	SetResponsible tokenSetResponsibleCommand `cmd:"" help:"Name the person who answers for the token of a service: what the token proposes, that person does not approve."`
	Delete         tokenDeleteCommand         `cmd:"" help:"Delete a token of a platform. It stops working at once. The last token with the permission MANAGE cannot be deleted: create another one first."`
}

type tokenCreateCommand struct {
	platformFlags
	Name        string   `required:"" help:"Name of the token, such as who uses it." placeholder:"NAME"`
	Permissions []string `default:"VIEW,TRANSACT,MANAGE" help:"Permissions: a list of VIEW, TRANSACT and MANAGE." placeholder:"LIST"`
	Person      string   `help:"E-mail address of the person whom the token belongs to, and who may approve with it. Default: the token is that of a service, which approves nothing." placeholder:"EMAIL"`
	Responsible string   `help:"E-mail address of the person who answers for the token of a service, and does not approve what it proposes. Default: who has signed in." placeholder:"EMAIL"`
	publicURLFlag
	actorFlag
}

func (c tokenCreateCommand) Run(ctx context.Context, env *Env) error {
	permissions := make([]platform.Permission, len(c.Permissions))
	for i, text := range c.Permissions {
		permissions[i] = platform.Permission(strings.ToUpper(strings.TrimSpace(text)))
	}
	return c.asOperator(ctx, env, c.actorFlag, func(operator *platforms.Operator, owner ident.Platform) error {
		issued, err := operator.CreateToken(ctx, owner, c.Name, permissions,
			platforms.TokenOwner{Person: c.Person, Responsible: c.Responsible})
		if err != nil {
			return fieldErrors("nothing was created", err)
		}
		return CredentialsOf(issued, env.BaseURL(c.publicURL(c.DatabaseFlags))).Write(env.Out)
	})
}

type tokenListCommand struct {
	platformFlags
	outputFlag
}

func (c tokenListCommand) Run(ctx context.Context, env *Env) error {
	return c.on(ctx, env, OnBooks, func(services Services, p ident.Platform) error {
		everybody, err := services.People().List(ctx)
		if err != nil {
			return err
		}
		emails := map[ident.Person]string{}
		for _, p := range everybody {
			emails[p.ID] = p.Email
		}
		rows := table.New("token", "client id", "permissions", "created", "of", "responsible", "name")
		read := func(paging ports.Paging) (ports.Page[platform.Token], error) {
			return services.Platforms().Tokens(ctx, p, ports.TokenFilter{Paging: paging})
		}
		for t, err := range ports.All(ports.Paging{Limit: 100}, read, func(t platform.Token) uuid.UUID { return t.ID.UUID() }) {
			if err != nil {
				return err
			}
			rows.Add(t.ID, t.ClientID, joinTexts(t.Permissions, ","), t.CreatedAt, table.OrDash(emails[t.Person]),
				table.OrDash(emails[t.Behind()]), t.Name)
		}
		return c.printTable(env, rows, "")
	})
}

type tokenSetResponsibleCommand struct {
	platformFlags
	Token string `arg:"" help:"Token id, as printed by causeway token list."`
	Email string `arg:"" help:"E-mail address of the person."`
	actorFlag
}

func (c tokenSetResponsibleCommand) Run(ctx context.Context, env *Env) error {
	id, err := ident.ParseToken(c.Token)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Token, err)
	}
	return c.asOperator(ctx, env, c.actorFlag, func(operator *platforms.Operator, owner ident.Platform) error {
		_, err := operator.SetResponsible(ctx, owner, id, c.Email)
		return env.say(err, "%s answers for %s.\n", person.NormalizeEmail(c.Email), id)
	})
}

type tokenDeleteCommand struct {
	platformFlags
	Token string `arg:"" help:"Token id, as printed by causeway token list."`
	actorFlag
}

func (c tokenDeleteCommand) Run(ctx context.Context, env *Env) error {
	id, err := ident.ParseToken(c.Token)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Token, err)
	}
	return c.asOperator(ctx, env, c.actorFlag, func(operator *platforms.Operator, owner ident.Platform) error {
		err := operator.DeleteToken(ctx, owner, id)
		return env.say(err, "%s is deleted.\n", id)
	})
}
