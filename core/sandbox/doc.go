// Package sandbox is the script of the sandbox: which value makes which thing
// happen. Nothing else in the program knows a magic value.
//
// It only reads values; the sandbox adapters play what it says. Nothing here can be
// reached for a production platform, because only those adapters ask.
package sandbox
