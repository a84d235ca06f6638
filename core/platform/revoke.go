package platform

import (
	"slices"

	"causeway/core/fault"
	"causeway/core/ident"
)

// CheckRevocable returns nil if the token may be deleted from among all tokens of its
// platform. It may not when it is the last with MANAGE: nobody could make another
// one then. It is TOKEN_NOT_FOUND when it is none of them.
func CheckRevocable(tokens []Token, id ident.Token) error {
	i := slices.IndexFunc(tokens, func(t Token) bool { return t.ID == id })
	if i < 0 {
		return fault.New(fault.TokenNotFound, "There is no token %s.", id)
	}
	manages := func(t Token) bool { return slices.Contains(t.Permissions, Manage) }
	if !manages(tokens[i]) || slices.ContainsFunc(tokens, func(t Token) bool { return t.ID != id && manages(t) }) {
		return nil
	}
	return &fault.Error{
		Code:    fault.Conflict,
		Message: "This is the last token with the permission MANAGE; without it nobody could create another. Create one with MANAGE first.",
		Reason:  "Last token with MANAGE",
	}
}
