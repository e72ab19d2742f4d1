package command

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shardsnow/snow"
	"github.com/shardsnow/snow/internal/idtext"
	"github.com/shardsnow/snow/opaque"
)

func (a *app) opaque() *cobra.Command {
	c := a.group("opaque", "Ids as texts for people outside", "")
	c.AddCommand(a.opaqueDecode(), a.opaqueEncode(), a.opaqueKey())
	return c
}

const aboutOpaqueDecode = `Show which ids the texts are that people outside see, such as ord_11m6bp6t15r7nr7.

Without a TEXT, or for -, texts are read from standard input, one in each line. After
what is no text of the keys it goes on, says at the end which lines these were, and the
exit status is 2. A text with a correct check character is the text of some number:
whether there is a row with this id, only the database knows.`

func (a *app) opaqueDecode() *cobra.Command {
	var path string
	c := &cobra.Command{
		Use: "decode [TEXT…]", Short: "Show which ids texts are", Long: aboutOpaqueDecode,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			keys, err := a.readKeys(c, path)
			if err != nil {
				return err
			}
			return a.opaqueAll(c, args, func(text string) (s shownOpaque, err error) {
				out, err := opaque.ParseID(text)
				if err != nil {
					return s, err
				}
				codec, err := keys.Type(out.Prefix())
				if err != nil {
					return s, err
				}
				id, err := codec.Decode(out)
				return shownOpaque{id, out, out.Prefix()}, err
			})
		},
	}
	keysFlag(c, &path)
	return c
}

func (a *app) opaqueEncode() *cobra.Command {
	var path, prefix string
	c := &cobra.Command{
		Use: "encode [ID…]", Short: "Show the texts of ids",
		Long: `Show the texts of ids that people outside see, with the newest key.

An ID is decimal, base32 of 13 characters, or hexadecimal after 0x. Without an ID,
or for -, ids are read from standard input, one in each line.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			keys, err := a.readKeys(c, path)
			if err != nil {
				return err
			}
			codec, err := keys.Type(prefix)
			if err != nil {
				return &usageError{c.CommandPath(), fmt.Errorf("--type: %w", err)}
			}
			return a.opaqueAll(c, args, func(text string) (shownOpaque, error) {
				id, err := idtext.Parse(text)
				return shownOpaque{id.ID, codec.Encode(id.ID), prefix}, err
			})
		},
	}
	keysFlag(c, &path)
	c.Flags().StringVar(&prefix, "type", "", "the `PREFIX` of the texts, such as ord; none without it")
	return c
}

const aboutOpaqueKey = `Print a line with a new random key for a file of keys:

  snow opaque key --version 1 > /etc/shop/ids
  snow opaque key --version 2 --decode >> /etc/shop/ids

Keep the file from other users: umask 077. The page docs/opaque.md says how keys
are changed.`

func (a *app) opaqueKey() *cobra.Command {
	var version int
	var decode bool
	c := &cobra.Command{
		Use: "key", Short: "Print a line with a new key", Long: aboutOpaqueKey,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			secret := make([]byte, 32)
			_, _ = rand.Read(secret) // it never fails
			if _, err := opaque.NewKey(version, secret); err != nil {
				return &usageError{c.CommandPath(), fmt.Errorf("--version: %w", err)}
			}
			return a.print(newKeyLine{version, hex.EncodeToString(secret), decode})
		},
	}
	c.Flags().IntVar(&version, "version", 0, "the `VERSION` of the key, 0 to 15")
	c.Flags().BoolVar(&decode, "decode", false, "the key does not encode until the word decode is removed")
	return c
}

type newKeyLine struct {
	Version int    `json:"version"`
	Secret  string `json:"secret"`
	Decode  bool   `json:"decode,omitempty"`
}

func (k newKeyLine) writeText(w io.Writer) {
	line := fmt.Sprintf("%d %s", k.Version, k.Secret)
	if k.Decode {
		line += " decode"
	}
	fmt.Fprintln(w, line)
}

func keysFlag(c *cobra.Command, path *string) {
	c.Flags().StringVar(path, "keys", "", "the `FILE` of the keys")
}

// readKeys warns if all users may read the file. Windows has no such bits.
func (a *app) readKeys(c *cobra.Command, path string) (*opaque.Keys, error) {
	if path == "" {
		return nil, &usageError{c.CommandPath(), errors.New("--keys is missing")}
	}
	keys, err := opaque.ReadKeys(path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o007 != 0 && runtime.GOOS != "windows" {
		a.warn("all users of this machine may open the keys in " + path + ": run chmod o= on it")
	}
	return keys, nil
}

// shownOpaques is the result of opaque encode and opaque decode.
type shownOpaques []shownOpaque

type shownOpaque struct {
	ID   snow.ID   `json:"id"`
	Text opaque.ID `json:"text"`
	Type string    `json:"type"`
}

func (all shownOpaques) writeText(w io.Writer) {
	for _, s := range all {
		fmt.Fprintf(w, "%s\t%s\n", s.ID, s.Text)
	}
}

// opaqueAll shows what arguments or lines are, and goes on after wrong ones.
func (a *app) opaqueAll(c *cobra.Command, args []string, read func(string) (shownOpaque, error)) error {
	all := shownOpaques{}
	add := func(text string) error {
		s, err := read(strings.TrimSpace(text))
		if err == nil {
			all = append(all, s)
		}
		return err
	}
	if len(args) == 0 {
		args = []string{"-"}
	}
	var wrong []error
	for _, arg := range args {
		var err error
		if arg == "-" {
			err = lines(c.Context(), a.In, add)
		} else {
			err = add(arg)
		}
		if c.Context().Err() != nil {
			return err
		}
		if err != nil {
			wrong = append(wrong, err)
		}
	}
	if len(all) > 0 || len(wrong) == 0 {
		if err := a.print(all); err != nil {
			return err
		}
	}
	if len(wrong) > 0 {
		return &usageError{c.CommandPath(), errors.Join(wrong...)}
	}
	return nil
}
