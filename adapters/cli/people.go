package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"causeway/adapters/cli/table"
	"causeway/app/people"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
)

// PeopleCommand is about the people who work with the service.
type PeopleCommand struct {
	Invite   peopleInviteCommand   `cmd:"" help:"Invite a person, and print the link with which it chooses its password."`
	List     peopleListCommand     `cmd:"" help:"List the people with their roles."`
	SetRoles peopleSetRolesCommand `cmd:"" help:"Replace the roles of a person, from its next request on."`
	Link     peopleLinkCommand     `cmd:"" help:"Print a new link for a person who has lost its password or second factor, or is disabled. What it signed in with until now, and its sessions, end."`
	Disable  peopleDisableCommand  `cmd:"" help:"End the sessions of a person, who cannot sign in until it is given a new link."`
}

// rolesFlag is the list of roles of a person.
type rolesFlag struct {
	Roles []string `name:"roles" required:"" help:"Roles: a list of VIEWER, SUPPORT, OPERATOR, FINANCE, COMPLIANCE and ADMINISTRATOR, each for all platforms, or for one as in FINANCE@PlatformConfig:…" placeholder:"LIST"`
}

// parse reports every role that is not one.
func (f rolesFlag) parse() ([]person.Grant, error) {
	var problems []error
	grants := make([]person.Grant, len(f.Roles))
	for i, text := range f.Roles {
		var err error
		if grants[i], err = person.ParseGrant(text); err != nil {
			problems = append(problems, fmt.Errorf("--roles: %w", err))
		}
	}
	return grants, errors.Join(problems...)
}

type peopleInviteCommand struct {
	DatabaseFlags
	Email string `arg:"" help:"E-mail address, with which the person signs in."`
	Name  string `required:"" help:"Name of the person." placeholder:"NAME"`
	rolesFlag
	publicURLFlag
	actorFlag
}

func (c peopleInviteCommand) Run(ctx context.Context, env *Env) error {
	grants, err := c.parse()
	if err != nil {
		return err
	}
	return c.withAuthor(ctx, env, c.DatabaseFlags, "nobody was invited", func(services Services, by platform.Author) error {
		issued, err := services.People().Invite(ctx, c.Email, c.Name, grants, by)
		return c.sayLink(env, c.DatabaseFlags, issued, fieldErrors("nobody was invited", err, argument{"email", c.Email}))
	})
}

// sayLink prints a link. The address is that of the console.
func (f publicURLFlag) sayLink(env *Env, of DatabaseFlags, issued people.IssuedLink, err error) error {
	return env.say(err, "Give this link to %s in confidence. It can be opened once, until %s:\n%s\n", issued.Person.Name,
		issued.ExpiresAt.UTC().Format(time.RFC3339), ConsoleLink(f.publicURL(of), issued.Token))
}

// ConsoleLink returns the URL of a link to the console of the service at a URL.
func ConsoleLink(publicURL, token string) string {
	return strings.TrimSuffix(publicURL, "/") + "/console/link/" + token
}

// ConsolePage returns the path of the page of the console about something of a platform, or of the platform itself if what is empty.
func ConsolePage(p ident.Platform, what string) string {
	page := "/console/platforms/" + p.UUID().String()
	if what != "" {
		page += "/search?q=" + url.QueryEscape(what)
	}
	return page
}

type peopleListCommand struct {
	DatabaseFlags
	outputFlag
}

func (c peopleListCommand) Run(ctx context.Context, env *Env) error {
	return c.with(ctx, env, AsRequest, func(services Services) error {
		found, err := services.People().List(ctx)
		if err != nil {
			return err
		}
		rows := table.New("email", "status", "roles", "created", "name")
		for _, p := range found {
			rows.Add(p.Email, p.Status, person.GrantTexts(p.Grants), p.CreatedAt, p.Name)
		}
		return c.printTable(env, rows, "There is nobody yet. Invite a person with: causeway people invite")
	})
}

// personFlags name a person, and who changes it.
type personFlags struct {
	DatabaseFlags
	Email string `arg:"" help:"E-mail address of the person."`
	actorFlag
}

type peopleSetRolesCommand struct {
	personFlags
	rolesFlag
}

func (c peopleSetRolesCommand) Run(ctx context.Context, env *Env) error {
	grants, err := c.parse()
	if err != nil {
		return err
	}
	return c.withAuthor(ctx, env, c.DatabaseFlags, "nothing was changed", func(services Services, by platform.Author) error {
		changed, err := services.People().SetGrants(ctx, c.Email, grants, by)
		return env.say(fieldErrors("nothing was changed", err), "%s now has the roles %s.\n", changed.Email, person.GrantTexts(changed.Grants))
	})
}

type peopleLinkCommand struct {
	personFlags
	publicURLFlag
}

func (c peopleLinkCommand) Run(ctx context.Context, env *Env) error {
	return c.withAuthor(ctx, env, c.DatabaseFlags, "nothing was changed", func(services Services, by platform.Author) error {
		issued, err := services.People().NewLink(ctx, c.Email, by)
		return c.sayLink(env, c.DatabaseFlags, issued, fieldErrors("nothing was changed", err))
	})
}

type peopleDisableCommand struct{ personFlags }

func (c peopleDisableCommand) Run(ctx context.Context, env *Env) error {
	return c.withAuthor(ctx, env, c.DatabaseFlags, "nothing was changed", func(services Services, by platform.Author) error {
		disabled, err := services.People().Disable(ctx, c.Email, by)
		return env.say(fieldErrors("nothing was changed", err), "%s is disabled.\n", disabled.Email)
	})
}
