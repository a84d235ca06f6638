package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"causeway/app/pricing"
	"causeway/core/fault"
)

// flagError returns an error with the name of its flag.
func flagError(flag string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", flag, err)
}

// argumentError returns an error with the name of its argument.
func argumentError(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %w", name, err)
}

// argument is what was typed for a field that has no flag.
type argument struct{ field, typed string }

// fieldErrors lists all field errors with the names of the flags, or with what was typed as an argument.
func fieldErrors(outcome string, err error, arguments ...argument) error {
	return eachField(outcome, err, func(f fault.Field) string {
		if i := slices.IndexFunc(arguments, func(a argument) bool { return a.field == f.Field }); i >= 0 {
			return arguments[i].typed + " " + f.Message
		}
		return flagPrefix(f.Field) + f.Message
	})
}

// settingErrors lists the bad fields of a file, of settings or of a request.
func settingErrors(outcome string, err error) error {
	return eachField(outcome, err, func(f fault.Field) string { return f.Field + " " + f.Message })
}

func eachField(outcome string, err error, text func(fault.Field) string) error {
	invalid, ok := fault.As(err)
	if !ok || len(invalid.Fields) == 0 {
		return err
	}
	lines := []string{outcome + ":"}
	for _, f := range invalid.Fields {
		lines = append(lines, "  "+text(f))
	}
	return errors.New(strings.Join(lines, "\n"))
}

// flagErrors turns field errors into errors that name the flags.
func flagErrors(err error) error {
	f, ok := fault.As(err)
	if !ok || len(f.Fields) == 0 {
		return err
	}
	var errs []error
	for _, field := range f.Fields {
		errs = append(errs, fmt.Errorf("--%s %s", strings.Replace(field.Field, "asOf", "as-of", 1), field.Message))
	}
	return errors.Join(errs...)
}

// flagPrefix returns the flag of a field; errors of no single flag have none.
func flagPrefix(field string) string {
	switch field {
	case pricing.FieldPair, pricing.FieldChange:
		return ""
	default:
		return fmt.Sprintf("--%s ", field)
	}
}
