-- The tables of Flarum, a forum: framework/core/migrations/pgsql-install.dump of https://github.com/flarum/framework,
-- without its comments and rows.
--
-- The MIT License (MIT)
--
-- Copyright (c) 2019-2024 Stichting Flarum (Flarum Foundation)
-- Copyright (c) 2014-2019 Toby Zerner (toby.zerner@gmail.com)
--
-- Permission is hereby granted, free of charge, to any person obtaining a copy
-- of this software and associated documentation files (the "Software"), to deal
-- in the Software without restriction, including without limitation the rights
-- to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
-- copies of the Software, and to permit persons to whom the Software is
-- furnished to do so, subject to the following conditions:
--
-- The above copyright notice and this permission notice shall be included in all
-- copies or substantial portions of the Software.
--
-- THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
-- IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
-- FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
-- AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
-- LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
-- OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
-- SOFTWARE.


CREATE TABLE db_prefix_access_tokens (
    token character varying(40) NOT NULL,
    user_id integer NOT NULL,
    last_activity_at timestamp(0) without time zone,
    created_at timestamp(0) without time zone NOT NULL,
    type character varying(100) NOT NULL,
    id integer NOT NULL,
    title character varying(150),
    last_ip_address character varying(45),
    last_user_agent character varying(255)
);

CREATE SEQUENCE db_prefix_access_tokens_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE db_prefix_access_tokens_id_seq OWNED BY db_prefix_access_tokens.id;

CREATE TABLE db_prefix_api_keys (
    key character varying(100) NOT NULL,
    id integer NOT NULL,
    allowed_ips character varying(255),
    scopes character varying(255),
    user_id integer,
    created_at timestamp(0) without time zone NOT NULL,
    last_activity_at timestamp(0) without time zone
);

CREATE SEQUENCE db_prefix_api_keys_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE db_prefix_api_keys_id_seq OWNED BY db_prefix_api_keys.id;

CREATE TABLE db_prefix_discussion_user (
    user_id integer NOT NULL,
    discussion_id integer NOT NULL,
    last_read_at timestamp(0) without time zone,
    last_read_post_number integer
);

CREATE TABLE db_prefix_discussions (
    id integer NOT NULL,
    title character varying(200) NOT NULL,
    comment_count integer DEFAULT 1 NOT NULL,
    participant_count integer DEFAULT 0 NOT NULL,
    created_at timestamp(0) without time zone NOT NULL,
    user_id integer,
    first_post_id integer,
    last_posted_at timestamp(0) without time zone,
    last_posted_user_id integer,
    last_post_id integer,
    last_post_number integer,
    hidden_at timestamp without time zone,
    hidden_user_id integer,
    slug character varying(255) NOT NULL,
    is_private boolean DEFAULT false NOT NULL
);

CREATE SEQUENCE db_prefix_discussions_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE db_prefix_discussions_id_seq OWNED BY db_prefix_discussions.id;

CREATE TABLE db_prefix_email_tokens (
    token character varying(100) NOT NULL,
    email character varying(150) NOT NULL,
    user_id integer NOT NULL,
    created_at timestamp(0) without time zone NOT NULL
);

CREATE TABLE db_prefix_group_permission (
    group_id integer NOT NULL,
    permission character varying(100) NOT NULL,
    created_at timestamp(0) without time zone
);

CREATE TABLE db_prefix_group_user (
    user_id integer NOT NULL,
    group_id integer NOT NULL,
    created_at timestamp(0) without time zone
);

CREATE TABLE db_prefix_groups (
    id integer NOT NULL,
    name_singular character varying(100) NOT NULL,
    name_plural character varying(100) NOT NULL,
    color character varying(20),
    icon character varying(100),
    is_hidden boolean DEFAULT false NOT NULL,
    created_at timestamp(0) without time zone,
    updated_at timestamp(0) without time zone
);

CREATE SEQUENCE db_prefix_groups_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE db_prefix_groups_id_seq OWNED BY db_prefix_groups.id;

CREATE TABLE db_prefix_login_providers (
    id integer NOT NULL,
    user_id integer NOT NULL,
    provider character varying(100) NOT NULL,
    identifier character varying(100) NOT NULL,
    created_at timestamp(0) without time zone,
    last_login_at timestamp(0) without time zone
);

CREATE SEQUENCE db_prefix_login_providers_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE db_prefix_login_providers_id_seq OWNED BY db_prefix_login_providers.id;

CREATE TABLE db_prefix_migrations (
    id integer NOT NULL,
    migration character varying(255) NOT NULL,
    extension character varying(255)
);

CREATE SEQUENCE db_prefix_migrations_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE db_prefix_migrations_id_seq OWNED BY db_prefix_migrations.id;

CREATE TABLE db_prefix_notifications (
    id integer NOT NULL,
    user_id integer NOT NULL,
    from_user_id integer,
    type character varying(100) NOT NULL,
    subject_id integer,
    data json,
    created_at timestamp(0) without time zone NOT NULL,
    is_deleted boolean DEFAULT false NOT NULL,
    read_at timestamp(0) without time zone
);

CREATE SEQUENCE db_prefix_notifications_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE db_prefix_notifications_id_seq OWNED BY db_prefix_notifications.id;

CREATE TABLE db_prefix_password_tokens (
    token character varying(100) NOT NULL,
    user_id integer NOT NULL,
    created_at timestamp(0) without time zone NOT NULL
);

CREATE TABLE db_prefix_post_user (
    post_id integer NOT NULL,
    user_id integer NOT NULL
);

CREATE TABLE db_prefix_posts (
    id integer NOT NULL,
    discussion_id integer NOT NULL,
    number integer,
    created_at timestamp(0) without time zone NOT NULL,
    user_id integer,
    type character varying(100),
    content text,
    edited_at timestamp(0) without time zone,
    edited_user_id integer,
    hidden_at timestamp(0) without time zone,
    hidden_user_id integer,
    ip_address character varying(45),
    is_private boolean DEFAULT false NOT NULL
);

COMMENT ON COLUMN db_prefix_posts.content IS ' ';

CREATE SEQUENCE db_prefix_posts_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE db_prefix_posts_id_seq OWNED BY db_prefix_posts.id;

CREATE TABLE db_prefix_registration_tokens (
    token character varying(100) NOT NULL,
    payload text,
    created_at timestamp(0) without time zone NOT NULL,
    provider character varying(255) NOT NULL,
    identifier character varying(255) NOT NULL,
    user_attributes text
);

CREATE TABLE db_prefix_settings (
    key character varying(100) NOT NULL,
    value text
);

CREATE TABLE db_prefix_unsubscribe_tokens (
    id bigint NOT NULL,
    user_id integer NOT NULL,
    email_type character varying(255) NOT NULL,
    token character varying(100) NOT NULL,
    unsubscribed_at timestamp(0) without time zone,
    created_at timestamp(0) without time zone,
    updated_at timestamp(0) without time zone
);

CREATE SEQUENCE db_prefix_unsubscribe_tokens_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE db_prefix_unsubscribe_tokens_id_seq OWNED BY db_prefix_unsubscribe_tokens.id;

CREATE TABLE db_prefix_users (
    id integer NOT NULL,
    username character varying(100) NOT NULL,
    email character varying(150) NOT NULL,
    is_email_confirmed boolean DEFAULT false NOT NULL,
    password character varying(100) NOT NULL,
    avatar_url character varying(100),
    preferences json,
    joined_at timestamp(0) without time zone,
    last_seen_at timestamp(0) without time zone,
    marked_all_as_read_at timestamp(0) without time zone,
    read_notifications_at timestamp(0) without time zone,
    discussion_count integer DEFAULT 0 NOT NULL,
    comment_count integer DEFAULT 0 NOT NULL
);

CREATE SEQUENCE db_prefix_users_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE db_prefix_users_id_seq OWNED BY db_prefix_users.id;

ALTER TABLE ONLY db_prefix_access_tokens ALTER COLUMN id SET DEFAULT nextval('db_prefix_access_tokens_id_seq'::regclass);

ALTER TABLE ONLY db_prefix_api_keys ALTER COLUMN id SET DEFAULT nextval('db_prefix_api_keys_id_seq'::regclass);

ALTER TABLE ONLY db_prefix_discussions ALTER COLUMN id SET DEFAULT nextval('db_prefix_discussions_id_seq'::regclass);

ALTER TABLE ONLY db_prefix_groups ALTER COLUMN id SET DEFAULT nextval('db_prefix_groups_id_seq'::regclass);

ALTER TABLE ONLY db_prefix_login_providers ALTER COLUMN id SET DEFAULT nextval('db_prefix_login_providers_id_seq'::regclass);

ALTER TABLE ONLY db_prefix_migrations ALTER COLUMN id SET DEFAULT nextval('db_prefix_migrations_id_seq'::regclass);

ALTER TABLE ONLY db_prefix_notifications ALTER COLUMN id SET DEFAULT nextval('db_prefix_notifications_id_seq'::regclass);

ALTER TABLE ONLY db_prefix_posts ALTER COLUMN id SET DEFAULT nextval('db_prefix_posts_id_seq'::regclass);

ALTER TABLE ONLY db_prefix_unsubscribe_tokens ALTER COLUMN id SET DEFAULT nextval('db_prefix_unsubscribe_tokens_id_seq'::regclass);

ALTER TABLE ONLY db_prefix_users ALTER COLUMN id SET DEFAULT nextval('db_prefix_users_id_seq'::regclass);

ALTER TABLE ONLY db_prefix_access_tokens
    ADD CONSTRAINT db_prefix_access_tokens_pkey PRIMARY KEY (id);

ALTER TABLE ONLY db_prefix_access_tokens
    ADD CONSTRAINT db_prefix_access_tokens_token_unique UNIQUE (token);

ALTER TABLE ONLY db_prefix_api_keys
    ADD CONSTRAINT db_prefix_api_keys_key_unique UNIQUE (key);

ALTER TABLE ONLY db_prefix_api_keys
    ADD CONSTRAINT db_prefix_api_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY db_prefix_registration_tokens
    ADD CONSTRAINT db_prefix_auth_tokens_pkey PRIMARY KEY (token);

ALTER TABLE ONLY db_prefix_settings
    ADD CONSTRAINT db_prefix_config_pkey PRIMARY KEY (key);

ALTER TABLE ONLY db_prefix_discussions
    ADD CONSTRAINT db_prefix_discussions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY db_prefix_email_tokens
    ADD CONSTRAINT db_prefix_email_tokens_pkey PRIMARY KEY (token);

ALTER TABLE ONLY db_prefix_groups
    ADD CONSTRAINT db_prefix_groups_pkey PRIMARY KEY (id);

ALTER TABLE ONLY db_prefix_login_providers
    ADD CONSTRAINT db_prefix_login_providers_pkey PRIMARY KEY (id);

ALTER TABLE ONLY db_prefix_login_providers
    ADD CONSTRAINT db_prefix_login_providers_provider_identifier_unique UNIQUE (provider, identifier);

ALTER TABLE ONLY db_prefix_migrations
    ADD CONSTRAINT db_prefix_migrations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY db_prefix_notifications
    ADD CONSTRAINT db_prefix_notifications_pkey PRIMARY KEY (id);

ALTER TABLE ONLY db_prefix_password_tokens
    ADD CONSTRAINT db_prefix_password_tokens_pkey PRIMARY KEY (token);

ALTER TABLE ONLY db_prefix_group_permission
    ADD CONSTRAINT db_prefix_permissions_pkey PRIMARY KEY (group_id, permission);

ALTER TABLE ONLY db_prefix_post_user
    ADD CONSTRAINT db_prefix_post_user_pkey PRIMARY KEY (post_id, user_id);

ALTER TABLE ONLY db_prefix_posts
    ADD CONSTRAINT db_prefix_posts_discussion_id_number_unique UNIQUE (discussion_id, number);

ALTER TABLE ONLY db_prefix_posts
    ADD CONSTRAINT db_prefix_posts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY db_prefix_unsubscribe_tokens
    ADD CONSTRAINT db_prefix_unsubscribe_tokens_pkey PRIMARY KEY (id);

ALTER TABLE ONLY db_prefix_unsubscribe_tokens
    ADD CONSTRAINT db_prefix_unsubscribe_tokens_token_unique UNIQUE (token);

ALTER TABLE ONLY db_prefix_discussion_user
    ADD CONSTRAINT db_prefix_users_discussions_pkey PRIMARY KEY (user_id, discussion_id);

ALTER TABLE ONLY db_prefix_users
    ADD CONSTRAINT db_prefix_users_email_unique UNIQUE (email);

ALTER TABLE ONLY db_prefix_group_user
    ADD CONSTRAINT db_prefix_users_groups_pkey PRIMARY KEY (user_id, group_id);

ALTER TABLE ONLY db_prefix_users
    ADD CONSTRAINT db_prefix_users_pkey PRIMARY KEY (id);

ALTER TABLE ONLY db_prefix_users
    ADD CONSTRAINT db_prefix_users_username_unique UNIQUE (username);

CREATE INDEX db_prefix_access_tokens_type_index ON db_prefix_access_tokens USING btree (type);

CREATE INDEX db_prefix_discussions_comment_count_index ON db_prefix_discussions USING btree (comment_count);

CREATE INDEX db_prefix_discussions_created_at_index ON db_prefix_discussions USING btree (created_at);

CREATE INDEX db_prefix_discussions_hidden_at_index ON db_prefix_discussions USING btree (hidden_at);

CREATE INDEX db_prefix_discussions_last_posted_at_index ON db_prefix_discussions USING btree (last_posted_at);

CREATE INDEX db_prefix_discussions_last_posted_user_id_index ON db_prefix_discussions USING btree (last_posted_user_id);

CREATE INDEX db_prefix_discussions_participant_count_index ON db_prefix_discussions USING btree (participant_count);

CREATE INDEX db_prefix_discussions_title_fulltext ON db_prefix_discussions USING gin (to_tsvector('english'::regconfig, (title)::text));

CREATE INDEX db_prefix_discussions_user_id_index ON db_prefix_discussions USING btree (user_id);

CREATE INDEX db_prefix_notifications_user_id_index ON db_prefix_notifications USING btree (user_id);

CREATE INDEX db_prefix_posts_content_fulltext ON db_prefix_posts USING gin (to_tsvector('english'::regconfig, content));

CREATE INDEX db_prefix_posts_discussion_id_created_at_index ON db_prefix_posts USING btree (discussion_id, created_at);

CREATE INDEX db_prefix_posts_discussion_id_number_index ON db_prefix_posts USING btree (discussion_id, number);

CREATE INDEX db_prefix_posts_type_created_at_index ON db_prefix_posts USING btree (type, created_at);

CREATE INDEX db_prefix_posts_type_index ON db_prefix_posts USING btree (type);

CREATE INDEX db_prefix_posts_user_id_created_at_index ON db_prefix_posts USING btree (user_id, created_at);

CREATE INDEX db_prefix_unsubscribe_tokens_email_type_index ON db_prefix_unsubscribe_tokens USING btree (email_type);

CREATE INDEX db_prefix_unsubscribe_tokens_token_index ON db_prefix_unsubscribe_tokens USING btree (token);

CREATE INDEX db_prefix_unsubscribe_tokens_user_id_email_type_index ON db_prefix_unsubscribe_tokens USING btree (user_id, email_type);

CREATE INDEX db_prefix_unsubscribe_tokens_user_id_index ON db_prefix_unsubscribe_tokens USING btree (user_id);

CREATE INDEX db_prefix_users_comment_count_index ON db_prefix_users USING btree (comment_count);

CREATE INDEX db_prefix_users_discussion_count_index ON db_prefix_users USING btree (discussion_count);

CREATE INDEX db_prefix_users_joined_at_index ON db_prefix_users USING btree (joined_at);

CREATE INDEX db_prefix_users_last_seen_at_index ON db_prefix_users USING btree (last_seen_at);

ALTER TABLE ONLY db_prefix_access_tokens
    ADD CONSTRAINT db_prefix_access_tokens_user_id_foreign FOREIGN KEY (user_id) REFERENCES db_prefix_users(id) ON DELETE CASCADE;

ALTER TABLE ONLY db_prefix_api_keys
    ADD CONSTRAINT db_prefix_api_keys_user_id_foreign FOREIGN KEY (user_id) REFERENCES db_prefix_users(id) ON DELETE CASCADE;

ALTER TABLE ONLY db_prefix_discussion_user
    ADD CONSTRAINT db_prefix_discussion_user_discussion_id_foreign FOREIGN KEY (discussion_id) REFERENCES db_prefix_discussions(id) ON DELETE CASCADE;

ALTER TABLE ONLY db_prefix_discussion_user
    ADD CONSTRAINT db_prefix_discussion_user_user_id_foreign FOREIGN KEY (user_id) REFERENCES db_prefix_users(id) ON DELETE CASCADE;

ALTER TABLE ONLY db_prefix_discussions
    ADD CONSTRAINT db_prefix_discussions_first_post_id_foreign FOREIGN KEY (first_post_id) REFERENCES db_prefix_posts(id) ON DELETE SET NULL;

ALTER TABLE ONLY db_prefix_discussions
    ADD CONSTRAINT db_prefix_discussions_hidden_user_id_foreign FOREIGN KEY (hidden_user_id) REFERENCES db_prefix_users(id) ON DELETE SET NULL;

ALTER TABLE ONLY db_prefix_discussions
    ADD CONSTRAINT db_prefix_discussions_last_post_id_foreign FOREIGN KEY (last_post_id) REFERENCES db_prefix_posts(id) ON DELETE SET NULL;

ALTER TABLE ONLY db_prefix_discussions
    ADD CONSTRAINT db_prefix_discussions_last_posted_user_id_foreign FOREIGN KEY (last_posted_user_id) REFERENCES db_prefix_users(id) ON DELETE SET NULL;

ALTER TABLE ONLY db_prefix_discussions
    ADD CONSTRAINT db_prefix_discussions_user_id_foreign FOREIGN KEY (user_id) REFERENCES db_prefix_users(id) ON DELETE SET NULL;

ALTER TABLE ONLY db_prefix_email_tokens
    ADD CONSTRAINT db_prefix_email_tokens_user_id_foreign FOREIGN KEY (user_id) REFERENCES db_prefix_users(id) ON DELETE CASCADE;

ALTER TABLE ONLY db_prefix_group_permission
    ADD CONSTRAINT db_prefix_group_permission_group_id_foreign FOREIGN KEY (group_id) REFERENCES db_prefix_groups(id) ON DELETE CASCADE;

ALTER TABLE ONLY db_prefix_group_user
    ADD CONSTRAINT db_prefix_group_user_group_id_foreign FOREIGN KEY (group_id) REFERENCES db_prefix_groups(id) ON DELETE CASCADE;

ALTER TABLE ONLY db_prefix_group_user
    ADD CONSTRAINT db_prefix_group_user_user_id_foreign FOREIGN KEY (user_id) REFERENCES db_prefix_users(id) ON DELETE CASCADE;

ALTER TABLE ONLY db_prefix_login_providers
    ADD CONSTRAINT db_prefix_login_providers_user_id_foreign FOREIGN KEY (user_id) REFERENCES db_prefix_users(id) ON DELETE CASCADE;

ALTER TABLE ONLY db_prefix_notifications
    ADD CONSTRAINT db_prefix_notifications_from_user_id_foreign FOREIGN KEY (from_user_id) REFERENCES db_prefix_users(id) ON DELETE SET NULL;

ALTER TABLE ONLY db_prefix_notifications
    ADD CONSTRAINT db_prefix_notifications_user_id_foreign FOREIGN KEY (user_id) REFERENCES db_prefix_users(id) ON DELETE CASCADE;

ALTER TABLE ONLY db_prefix_password_tokens
    ADD CONSTRAINT db_prefix_password_tokens_user_id_foreign FOREIGN KEY (user_id) REFERENCES db_prefix_users(id) ON DELETE CASCADE;

ALTER TABLE ONLY db_prefix_post_user
    ADD CONSTRAINT db_prefix_post_user_post_id_foreign FOREIGN KEY (post_id) REFERENCES db_prefix_posts(id) ON DELETE CASCADE;

ALTER TABLE ONLY db_prefix_post_user
    ADD CONSTRAINT db_prefix_post_user_user_id_foreign FOREIGN KEY (user_id) REFERENCES db_prefix_users(id) ON DELETE CASCADE;

ALTER TABLE ONLY db_prefix_posts
    ADD CONSTRAINT db_prefix_posts_discussion_id_foreign FOREIGN KEY (discussion_id) REFERENCES db_prefix_discussions(id) ON DELETE CASCADE;

ALTER TABLE ONLY db_prefix_posts
    ADD CONSTRAINT db_prefix_posts_edited_user_id_foreign FOREIGN KEY (edited_user_id) REFERENCES db_prefix_users(id) ON DELETE SET NULL;

ALTER TABLE ONLY db_prefix_posts
    ADD CONSTRAINT db_prefix_posts_hidden_user_id_foreign FOREIGN KEY (hidden_user_id) REFERENCES db_prefix_users(id) ON DELETE SET NULL;

ALTER TABLE ONLY db_prefix_posts
    ADD CONSTRAINT db_prefix_posts_user_id_foreign FOREIGN KEY (user_id) REFERENCES db_prefix_users(id) ON DELETE SET NULL;

ALTER TABLE ONLY db_prefix_unsubscribe_tokens
    ADD CONSTRAINT db_prefix_unsubscribe_tokens_user_id_foreign FOREIGN KEY (user_id) REFERENCES db_prefix_users(id) ON DELETE CASCADE;



