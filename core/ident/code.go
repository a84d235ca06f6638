package ident

import (
	"encoding/base32"

	"github.com/google/uuid"
)

// crockford has no letters that are mistaken for digits.
var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// ShortCode is a short name for people, made of the random part of a UUIDv7: 12 digits
// and capital letters. Two ids share one by accident alone (59 bits).
func ShortCode(id uuid.UUID) string { return crockford.EncodeToString(id[8:])[1:] }
